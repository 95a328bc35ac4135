"""Invalid command lines: one line names the error and the option, the next line a remedy."""

import shlex
from pathlib import Path

import pytest

from ils_bench.targets import probe
from sitebench.http import site
from sitebench.runs.store import RunStore
from sitebench.targets.ownership import FLAG
from tests.support.cli import in_process, sitebench
from tests.support.hostile_target import hold, site_that
from tests.support.ldap_server import serving

CHECK_HAS_NO_LOAD = (
    "--check does each operation once, without a load",
    "sitebench site run FILE --check",
)
CANNOT_BE_LIMITED = (
    "runs already, and only a target that sitebench starts can be limited",
    "leave --target-limits out",
)
WRONG = {
    # Values
    "ils run --measure 0s": ("--measure: '0s' is not a time above zero", "such as 10s"),
    "ils run --measure soon": ("--measure: unknown duration 'soon'", "such as 500ms"),
    "ils run --users 0": ("--users: size '0' is not a whole number above zero", "write a number"),
    "ils run --users many": ("--users: unknown size 'many'", "write a number"),
    "ils run --entries 0": ("--entries: size '0'", "write a number"),
    "ils run --entries 10x": ("--entries: unknown size '10x'", "10k"),
    "ils run --entries -5": ("--entries: unknown size '-5'", "10k"),
    "ils run --entries ''": ("--entries: unknown size ''", "10k"),
    "ils run --entries 1.0001k": ("--entries: size '1.0001k'", "write a number"),
    "ils run --rate 0": ("--rate: rate '0' is not above zero", "write operations/s"),
    "ils run --rate 1e9": ("--rate: rate '1e9' is above 10m/s", "give a lower rate"),
    "ils run --rate fast": ("--rate: unknown rate 'fast'", "write operations/s"),
    "ils run --threads 0": ("--threads: '0' is not a whole number of at least 1", "write digits"),
    "ils run --keys foo": ("--keys: unknown choice 'foo'", "uniform, zipfian, hotspot, latest"),
    "ils run --objective p99": ("--objective: ", "use one of <=, >="),
    "ils run --monitor nosuch": ("--monitor: http://nosuch:9100/metrics", "node_exporter"),
    "ils sweep --sizes 1,000": ("--entries: commas separate the sizes", "without a comma"),
    "ils sweep --sizes 1k,,10k": ("'1k,,10k' has an empty size", "without a comma"),
    "ils sweep --sizes 1k,big": ("unknown size 'big'", "write a number"),
    "web sweep webbench1-static --clients none": ("--clients: unknown size 'none'", "write"),
    "ils serve --port 99999": ("--port: '99999' is not a whole number from 0 to 65535", "digits"),
    "ils serve --port x": ("--port: 'x' is not a whole number", "write digits"),
    "ps serve --port 65536": ("--port: '65536'", "write digits"),
    "ils ui --web-port 80000": ("--web-port: '80000'", "write digits"),
    "ils ui --web-port 0": ("--web-port: '0'", "write digits"),
    "plan ils --headroom 130%": ("--headroom 130%", "0% to less than 100%"),
    "plan ils --headroom 30": ("--headroom: unknown share '30'", "such as 4%"),
    "ils run --measure -5s": ("--measure: unknown duration '-5s'", "such as 500ms"),
    "ils run --rate -5": ("--rate: rate '-5' is not above zero", "write operations/s"),
    "ils run --repeats 0": ("--repeats: '0' is not a whole number of at least 1", "write digits"),
    "ils run --until p99": ("--until: 'p99' is not a percentile", "p99:5%"),
    "ils run --until p99:0%": ("--until: precision 0% is not between", "write 5%"),
    "ils run --warmup soon": ("--warmup: unknown duration 'soon'", "such as 500ms"),
    "ils run --think x": ("--think: unknown duration 'x'", "such as 500ms"),
    "ils run --timeout 0": ("--timeout: '0' is not a time above zero", "such as 10s"),
    "ils run --session x": ("--session: unknown duration", "such as 500ms"),
    "ils run --workers-wait x": ("--workers-wait: unknown duration", "such as 500ms"),
    "ils run --repeats 1.5": ("--repeats: '1.5' is not a whole number", "write digits"),
    "ils run --seed -1": ("--seed: '-1' is not a whole number of at least 0", "write digits"),
    "ils run --target-threads 0": ("--target-threads: '0'", "write digits"),
    "ils run --workers 0": ("--workers: '0'", "write digits"),
    "ps run --row-cache -1": ("--row-cache: '-1'", "write digits"),
    "web run --files-per-class 0": ("--files-per-class: '0'", "write digits"),
    "ils run --arrivals random": ("--arrivals: unknown choice 'random'", "poisson, even"),
    "ils run --profile big": ("--profile: unknown choice 'big'", "paper, small, ils"),
    "ils run --client ldap4": ("--client: unknown choice 'ldap4'", "native, ldap3"),
    "ils run --sasl gssapi": ("--sasl: unknown choice 'gssapi'", "external, plain"),
    "ps run --durability half": ("--durability: unknown choice 'half'", "normal, full"),
    "ils serve --tls always": ("--tls: unknown choice 'always'", "self-signed"),
    "ils schema oracle": ("FORMAT: unknown choice 'oracle'", "openldap, config, 389ds"),
    "export run --what columns": (
        "--what: unknown choice",
        "points, steps, spans, timeline, samples",
    ),
    "report run --format gif": ("--format: unknown choice 'gif'", "svg, png"),
    "compare 1 2 --fail-on faster": ("--fail-on: unknown choice 'faster'", "slower"),
    "ils run --locales en_US,nowhere": ("--locales: 'nowhere' names no country", "en_US"),
    "ps seed new.upd --locales xx_YY": ("--locales: Faker has no locale 'xx_YY'", "en_US"),
    "ils seed --to new.ldif --locales en_US,en_US": ("--locales: en_US is listed twice", "once"),
    "ils run --target-limits speed=3": ("--target-limits: 'speed' cannot be", "processors, mem"),
    "ils run --target ldap://127.0.0.1:9 --target-limits processors=1": CANNOT_BE_LIMITED,
    "ps run --target http://127.0.0.1:9 --target-limits processors=1": CANNOT_BE_LIMITED,
    "web run --target http://127.0.0.1:9 --target-limits processors=1": CANNOT_BE_LIMITED,
    "ils run --target-limits memory=lots": ("--target-limits: 'lots' is no limit", "64m"),
    "ils run --bind host:99999": ("--bind: 'host:99999' is not the address", "HOST:5557"),
    "ils run --target-host 0.0.0.0": ("--target-host: workers cannot connect", "give the address"),
    "ils run --monitor http://": ("--monitor: 'http://' is not the address", "node_exporter"),
    "ils run --objective 'p99<fast'": ("--objective: objective 'p99<fast', character 5", "500ms"),
    "ils run --objective 'p99<5'": ("'5' has no unit", "5ms"),
    "ils run --objective 'speed>5'": ("character 1: unknown metric 'speed'", "p50, p90"),
    "ils run --names uid=user": ("--names: 'uid=user' is neither", "'uid=user.{i}'"),
    "ils run --names @": ("--names: '@' names no file", "@people.txt"),
    "ils run --names @/nowhere:mail --target ldap://127.0.0.1:9": (
        "cannot read the names in /nowhere: No such file",
        "FILE.csv:COLUMN",
    ),
    "ils sweep --operations lookup,ad": ("--operations: unknown operation 'ad'", "use some of"),
    "ils sweep --operations ,": ("--operations: ',' names no operation", "use some of connect"),
    "ils vary --vary speed=1,2": ("--vary: 'speed' cannot be varied", "processors"),
    "ils vary --vary processors": ("--vary: 'processors' is not FACTOR", "workers=1,2"),
    "ils vary --vary threads=0,1": ("--vary threads: '0' is not a whole number", "write digits"),
    "ps vary --vary keepalive=maybe": ("--vary keepalive: 'maybe' is neither", "on,off"),
    "ils peak --clients 0": ("--clients: size '0'", "write a number"),
    "ils serve --suffix nonsense": ("--suffix: 'nonsense' is not a DN", "dc=example,dc=com"),
    "ils serve --limit connections=lots": ("--limit: 'connections=lots' sets no", "name=number"),
    "ils serve --limit nosuch=4": ("unknown field `nosuch`", "use one of the expected"),
    "ils serve --host 10.9.9.9": ("cannot listen on 10.9.9.9:10389", "127.0.0.1, or 0.0.0.0"),
    "web run --programs perl=/x": ("--programs: 'perl=/x' is not one of", "cgi=/cgi-bin"),
    "web run --programs cgi": ("'cgi' is not one of cgi-env", ""),
    "web run --programs cgi=x": ("'x' of cgi is no path", ""),
    "web run --target http://127.0.0.1:1 --access-log": ("--access-log applies only", ""),
    "ps run --target http://127.0.0.1:1 --access-log": ("--access-log applies only", ""),
    "web verify --target docroot/": ("unknown target 'docroot/'", ""),
    "web run --path x": ("--path: the path 'x' does not begin with '/'", "write '/x'"),
    "web run --path http://a/x": ("the path 'http://a/x' does not", "write the path alone"),
    "web run --path '/a b'": ("has a character that no request line can carry", "write it as %XX"),
    "web run --path '/{x}'": ("has a character that no request line can carry", "write it as %XX"),
    "plan ils --community many": ("--community: unknown size 'many'", "write a number"),
    "plan ils --active 200%": ("cannot plan with --active 200%", "0% < x <= 100%"),
    "plan ps --active 0%": ("--active 0%", ""),
    "plan ps --active 101%": ("--active 101%", ""),
    "plan ps --active 4": ("unknown share '4'", ""),
    "plan web --cgi-share 200%": ("--cgi-share is 200%", "at most 100%"),
    "plan web --line-efficiency 200%": ("--line-efficiency is 200%", "at most 100%"),
    "plan ps --pages-per-s 0": ("rate '0' is not above zero", ""),
    "plan ps --view-time=-5s": ("unknown duration '-5s'", ""),
    "plan ps --view-time 0s": ("a time of 0s", ""),
    "plan ps --headroom 100%": ("headroom 1", ""),
    "plan ps --community 0": ("size '0'", ""),
    "plan ps --community 100m": ("more than twice", ""),
    "plan ps --objective quick": ("unknown metric 'quick'", ""),
    "plan ps --objective 'p99<1ms'": ("idle machine takes", ""),
    "plan ps --objective 'failures<1%'": ("cannot be estimated from rates", ""),
    "plan ils --cores 100000000000000000000 --objective 'p99<1s'": ("000 cores", ""),
    "plan ils --rates lookup=0": ("rate '0' is not above zero", ""),
    "plan ils --rates lookup=900": ("no rate for connect", ""),
    "plan ils --mix lookup=0": ("a session without operations", ""),
    "plan ils --mix lookup=6,dance=1": ("no rate for dance", ""),
    "plan ils --session=-20m": ("unknown duration '-20m'", ""),
    "plan ils --size 7": ("no rates at 7 people", ""),
    "plan ils --mix lookup": ("--mix: 'lookup' is not name=value", "lookup=6,add=1"),
    "plan ils --mix fly=1": ("has no rate for fly", "rates for connect, add, lookup"),
    "plan ils --rates lookup=fast": ("--rates: unknown rate 'fast'", "20k"),
    "plan ils --preset cray": ("--preset: unknown choice 'cray'", "paper-2500"),
    "plan ils --cores 0": ("--cores: '0'", "write digits"),
    "demo --measure x": ("--measure: unknown duration 'x'", "such as 500ms"),
    "demo nosuch": ("there is no suite 'nosuch'", "ils, ps, web"),
    "worker --master :x": ("--master: ':x' is not the address of a master", "HOST:5557"),
    "worker --master h --client x": ("--client: unknown choice 'x'", "native, ldap3"),
    # Options that exclude each other, or need another option
    "ils run lookup --threads 4096 --entries 100": ("4096 threads are more than the", ""),
    "ils run --threads 1,2": ("--threads: '1,2' is not a whole number", "write digits"),
    "ils peak --clients 1,024": ("--clients: commas separate the sizes of '1,024'", "write sizes"),
    "ils peak --clients ,": ("--clients: ',' has an empty size", "write sizes"),
    "ils run --resume": ("--resume needs a run file", "--out"),
    "ils sweep --out typo --resume": ("no run file at typo", ""),
    "ils sweep --paper --users 8": ("--paper has the paper's numbers of clients", "leave out one"),
    "ps sweep --paper --users 8": ("--paper has the paper's numbers of clients", "leave out one"),
    "web sweep --paper --clients 8": ("--paper says what --clients says too", "leave out one"),
    "ils peak --rate 5k": ("peak chooses the rates itself", "--objective with --start"),
    "ils peak --users 5": ("--users needs --objective", "use --clients"),
    "ils peak --start 1k": ("--start needs --objective", "use --clients"),
    "ils run --tls-cert cert.pem": ("--tls-cert has no effect without TLS", "--tls"),
    "ps run --tls-insecure": ("--tls-insecure has no effect without TLS", "https://"),
    "ps run --tls --target http://127.0.0.1:1": ("--tls applies to a target that si", "https://"),
    "web run --tls --target http://127.0.0.1:1": ("--tls applies to a target that si", "https://"),
    "ils run --tls --target ldap://127.0.0.1:1": ("--tls applies to a target that si", "ldaps://"),
    "ils run --sasl external": ("--sasl external needs TLS", "ldaps://"),
    "web run spice-fastcgi": ("embedded has no program of the kind 'fastcgi'", ""),
    "web run spice-cgi --target http://127.0.0.1:1": ("no program of the kind 'cgi'", ""),
    "web seed --set spice-cgi --to x": ("spice-cgi asks for programs alone", ""),
    "web run --path /": ("embedded has no files to serve for /", "--target http://HOST:PORT"),
    "web run paths.toml": ("embedded has no files to serve for /index.html", ""),
    "web run silicon-surf --path /": (
        "--path and 'silicon-surf' both describe",
        "leave one of them",
    ),
    "web run good.toml --path /": ("good.toml and --path both describe the operations", "leave"),
    "ils sweep --scenario search.toml --operations connect": ("--operations both describe", ""),
    "ils sweep --scenario search.toml --paper": ("--paper both describe", ""),
    "ils sweep connect --operations lookup": ("", "give one"),
    "ils run --names 'uid=user.{i}'": ("--names is for a directory of your own", "--target"),
    "ils run --think 1s --rate 5": ("--think and --rate both decide", "leave one of them out"),
    "ils clean --seeded": ("--seeded does not say which directory", "--target"),
    "ils clean --seeded --target embedded": ("which directory", "--target ldap://host:port"),
    "ils clean --seeded --target slapd:/folder": ("which directory", "--target ldap://host:port"),
    "ils clean --forget": ("--forget does not say which directory", "--target"),
    "ils run --tls --tls-key key.pem": ("--tls-cert and --tls-key go together", "both, or neither"),
    "web serve --tls-cert cert.pem": ("--tls-cert and --tls-key go together", "both, or neither"),
    "plan ils --target x": ("--target needs RUN", "name the run file"),
    "plan ils run --preset paper-2500": ("rates are given more than once", "--preset"),
    "plan ps --preset paper-2500 --pages-per-s 3": ("rates are given more than once", ""),
    "compare 1 2 --restart x": ("--restart needs --interleave", "leave it out"),
    "compare 1 2 --interleave 'ils run lookup'": ("has no {} to replace by A and B", "--target {}"),
    "compare 1 2 --interleave 'ils peak {}'": ("takes a run or a sweep", "'ils run lookup"),
    "ils ui --web-login": ("--web-login finds no NAME:PASSWORD", "--login-file"),
    # Files
    "ils run --out notes.txt": ("notes.txt is not a run file of sitebench", "--out"),
    "ils run --out /none/run": ("cannot open run file /none/run", "a writable folder"),
    "web serve --docroot absent --port 0": ("there is no folder", "--workload"),
    "web run --docroot /proc/none": ("cannot keep files in /proc/none", ""),
    "ils run --junit /none/x.xml": ("cannot write /none/x.xml", "a writable folder"),
    "ils run --tls --tls-ca none.pem": ("in none.pem: ", "PEM with --tls-ca"),
    "ils run --out .": ("cannot open run file .", "a writable folder"),
    "export .": (". is not a file", "that sitebench wrote"),
    "ils serve --admin-dn cn=a,o=b": ("'cn=a,o=b' has no password", "--admin-password-file"),
    "ils serve --ldif .": ("cannot read .", "name another one"),
    "ils serve --ldif none.ldif": ("cannot read none.ldif", "name another one"),
    "ils serve --ldif notes.txt": ("notes.txt, line 1", "correct that file"),
    "ils verify notes.txt": ("notes.txt, line 1", "correct that file"),
    "ils verify none.ldif": ("cannot read none.ldif", "check the name"),
    "ils seed --to /none/people.ldif": ("cannot write /none/people.ldif", "a writable place"),
    "ils seed --to slapd:": ("slapd: names no folder", "slapd:/srv/people"),
    "ils seed --to ldap://": ("unknown target 'ldap://'", "ldap://127.0.0.1:389"),
    "ils seed --to notes.txt": ("notes.txt exists already", "remove it, or name another"),
    "ps seed notes.txt": ("notes.txt exists already", "remove it, or name another"),
    "ils seed": ("no destination is named", "people.ldif"),
    "ps seed /none/people": ("cannot write /none/people", "a folder you may write to"),
    "ps run --database none.sqlite": ("no user-property database at none.sqlite", "ps seed"),
    "ps serve --port 0 --database none.sqlite": ("none.sqlite", "ps seed"),
    "ps run page --scenario good.toml": ("the scenario file and", "leave one of them out"),
    "ps run page --check --scenario good.toml": (
        "both describe the operations of users",
        "leave one of them out",
    ),
    "ps sweep --check --scenario good.toml": CHECK_HAS_NO_LOAD,
    "ps vary --vary users=1,2 --check --scenario good.toml": CHECK_HAS_NO_LOAD,
    "ps peak --check --scenario good.toml": CHECK_HAS_NO_LOAD,
    "ps run step.toml --keepalive": (
        "step.toml has its own setting of how long connections are kept",
        'per = "user" in its [connection.main]',
    ),
    "web run good.toml --target http://127.0.0.1:9 --no-keepalive": (
        "good.toml has its own setting of how long connections are kept",
        'per = "step" in its [connection.main]',
    ),
    "ps run search.toml --target http://127.0.0.1:9": ("no personalized site", "directory run"),
    "ps run files.toml --target http://127.0.0.1:9": ("no personalized site", "sitebench web run"),
    "ps run page --data a=x.csv": ("--data replaces files of a scenario file", "leave it out"),
    "ps run a --scenario typo.toml": ("unknown operation 'a'", "leave the operation out"),
    "ils run ldap://127.0.0.1:389": ("'ldap://127.0.0.1:389' is an address", "with --target"),
    "ils run --target ldap://127.0.0.1:9 --bind-dn cn=a --password-file empty": (
        "the first line of the password file empty is empty",
        "put the password there",
    ),
    "ils run --target ldap://127.0.0.1:9 --bind-dn cn=a --password-file none": (
        "cannot read the password file none",
        "name a readable file",
    ),
    "ps run --scenario none.toml": ("cannot read the scenario none.toml", "a readable TOML file"),
    "ps run --scenario bad.toml": ("bad.toml:1:8: is not TOML", "sitebench docs scenarios"),
    "ps run --scenario typo.toml": (
        'typo.toml:3:1: operation[1].gte: "gte" is not a verb; did you mean "get"?',
        "sitebench docs scenarios",
    ),
    "ps run --scenario field.toml": (
        'data "one" has no column "gven": people have id, name, given',
        "sitebench docs scenarios",
    ),
    "ps run --scenario old.toml": (
        "old.toml:3:13: operation[1].request: is of the form before this one",
        "sitebench docs scenarios",
    ),
    "ps run --database .": (". is no user-property database", "ps seed"),
    "web operations --show large": ("'large' is no operation", "large-filemix"),
    "web run webbench": ("unknown operation 'webbench'", ""),
    "web run none.toml": ("cannot read the scenario none.toml", "a readable TOML file"),
    "web run bad.toml": ("bad.toml:1:8: is not TOML", "sitebench docs scenarios"),
    "web seed --to x --set nosuch": ("unknown workload 'nosuch'", "webbench1-static"),
    "report none.sitebench": ("no run file at none.sitebench", "check the name"),
    "report notes.txt": ("notes.txt is not a run file", "that sitebench wrote"),
    "plan ils empty.sitebench": ("empty.sitebench is empty", "that sitebench wrote"),
    "plan ils --xlsx /none/x.xlsx": ("cannot write /none/x.xlsx", "a folder that exists"),
    "plan ps none": ("no run file at none", ""),
    "compare none notes.txt": ("no run file at none", "check the name"),
    "resume notes.txt": ("notes.txt is not a run file", "that sitebench wrote"),
    "export none": ("no run file at none", "check the name"),
    # Targets
    "ils run --target ldap://me:pw@127.0.0.1": (
        "--target: an address contains cred",
        "`sitebench docs safety`",
    ),
    "ils run --base x --target ldap://127.0.0.1:1": ('the base "x" is no', "ou=Dynamic,o=Intranet"),
    "ils run --target http://127.0.0.1:1": ("is a web site, not a directory", "sitebench ps"),
    "ps run --target ldap://127.0.0.1:1": ("is a directory, not a web site", "sitebench ils"),
    "web run --target ldaps://127.0.0.1:1": ("is a directory, not a web site", "sitebench ils"),
    "ils run --target nowhere": ("unknown target 'nowhere'", "ldap://127.0.0.1:389"),
    "ils run --target ldapi://socket": ("ldapi://socket", "write embedded"),
    "ils run --target ldap://a:x": ("ldap://a:x", "write embedded"),
    "ps run --target site": ("target 'site'", "http://127.0.0.1"),
    "ps run --target http://a:x": ("http://a:x", "http://127.0.0.1"),
    "ps run --target 'http://a/?b=1'": ("http://a/?b=1", "http://127.0.0.1"),
    "ps run --target http://": ("unknown target 'http://'", "http://127.0.0.1:8080"),
    "ils run --target ldap://127.0.0.1:99999": ("no valid port", "ldap://127.0.0.1:389"),
    # Names of options, commands and operations
    "ils run --durations 3s": ("no such option '--durations'", "did you mean --duration?"),
    "ils run --people 1k": ("no such option '--people'", "did you mean --entries?"),
    "ils run --run-time 3s": ("no such option '--run-time'", "did you mean --measure?"),
    "ils run --user 3": ("no such option '--user'", "did you mean --users?"),
    "site sweep --entires 1k": ("no such option '--entires'", "did you mean --entries?"),
    "ils run --connections 3": ("no such option '--connections'", "did you mean --users?"),
    "ps run --qps 3": ("no such option '--qps'", "did you mean --rate?"),
    "web sweep spice-cgi --vus 3": ("no such option '--vus'", "did you mean --users?"),
    "ils run --mesure 3s": ("no such option '--mesure'", "did you mean --measure?"),
    "ils run --entirely-unknown": ("no such option", "`sitebench ils run --help` lists"),
    "version": ("no such command 'version'", "did you mean `sitebench --version`?"),
    "help": ("no such command 'help'", "did you mean `sitebench --help`?"),
    "ldap run": ("no such command 'ldap'", "did you mean `sitebench directory`?"),
    "http run": ("no such command 'http'", "did you mean `sitebench web`?"),
    "web workloads": ("no such command 'workloads'", "did you mean `sitebench web operations`?"),
    "docs verdct": ("no page 'verdct'", "did you mean verdict? `sitebench docs` lists all of them"),
    "docs xyzzy": ("there is no page 'xyzzy'", "  `sitebench docs` lists all of them"),
    "docs ../pyproject": ("there is no page '../pyproject'", ""),
    "docs /etc/passwd": ("there is no page '/etc/passwd'", ""),
    "docs examples/../mkdocs.yml": ("there is no page 'examples/../mkdocs.yml'", ""),
    "repot": ("no such command 'repot'", "did you mean report?"),
    "directry run": ("no such command 'directry'", "did you mean directory?"),
    "sweep": ("no such command 'sweep'", "did you mean `sitebench ils sweep` or `sitebench ps"),
    "login": ("no such command 'login'", "did you mean `sitebench ils run login`?"),
    "ps page": ("no such command 'page'", "did you mean `sitebench ps run page`?"),
    "ils run login --to x": ("no such option '--to'", "did you mean --target?"),
    "ils rnu": ("no such command 'rnu'", "did you mean run?"),
    "lis run": ("no such command 'lis'", "did you mean ils?"),
    "ils run lokup": ("unknown operation 'lokup'", "did you mean lookup? use one of "),
    "ils run --target localhost:3390": (
        "unknown target 'localhost:3390'",
        "did you mean ldap://localhost:3390?",
    ),
    "web verify --target 127.0.0.1:5080": (
        "unknown target '127.0.0.1:5080'",
        "did you mean http://127.0.0.1:5080?",
    ),
    "ils run -w secret": ("no such option '-w'", "passwords come from --password-file"),
    "ils run --password secret": ("no such option '--password'", "come from --password-file"),
    "ps sweep --users 2,4,8": ("'2,4,8' is a list of numbers", "`peak --clients 2,4,8`"),
    "ils run --users 1,2": ("'1,2' is a list of numbers", "`peak --clients 1,2`"),
    "ils sweeep": ("no such command 'sweeep'", "did you mean sweep?"),
    "ils run conect": ("unknown operation 'conect'", "use one of "),
    "ps run dance": ("unknown operation 'dance'", "scenario, page"),
    "ils run --measure": ("option '--measure' requires an argument", "--help"),
    "report": ("missing argument", "--help"),
    "ils run lookup add": ("unexpected extra argument", "--help"),
}


UNREACHABLE = {
    f"ils sweep --sizes 100 --target ldap://127.0.0.1:1 {FLAG}": (
        "nothing answers at ldap",
        "host and",
    ),
    f"ils sweep --sizes 100 --out new --target ldap://127.0.0.1:1 {FLAG}": ("nothing answers", ""),
    "ils run --target ldap://no-such-host.invalid:389": ("nothing answers at ldap://no-such-", ""),
    "ils run --target ldap://127.0.0.1:1": ("nothing answers at ldap://127.0.0.1:1", "host and po"),
    "ils seed --to ldap://127.0.0.1:1": ("nothing answers at ldap://127.0.0.1:1", "host and port"),
    "ps run --target http://127.0.0.1:1": ("nothing answers at http://127.0.0.1:1", "host and po"),
    "web verify --target http://127.0.0.1:1": ("nothing answers at http://127", "host and port"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of wrong kinds."""
    made = tmp_path_factory.mktemp("wrong")
    texts = {
        "notes.txt": "hello\n",
        "empty.sitebench": "",
        "empty": "",
        "bad.toml": "path = /\n",
        "field.toml": "data.one.people = 'seeded'\n[[operation]]\nget = '/{one.gven}'\n",
        "good.toml": "[[operation]]\nget = '/'\n",
        "paths.toml": "[[operation]]\nget = '/index.html'\n",
        "step.toml": "connection.main.per = 'step'\n[[operation]]\nget = '/'\n",
        "search.toml": "[[operation]]\nsearch = '(uid=a)'\n",
        "files.toml": "files.s.a.sizes = [9]\n[[operation]]\nfile = 'a'\n",
        "old.toml": "[[operation]]\nname = 'a'\n[[operation.request]]\npath = '/'\n",
        "typo.toml": "[[operation]]\nname = 'a'\ngte = '/'\n",
    }
    for name, text in texts.items():
        (made / name).write_text(text)
    return made


@pytest.mark.parametrize("line", [*WRONG, *UNREACHABLE])
def test_wrong_input_is_refused_in_one_line_with_a_remedy(line: str, folder: Path) -> None:
    said, remedy = (WRONG | UNREACHABLE)[line]
    before = {each: each.read_bytes() for each in folder.iterdir()}
    ran = in_process(*shlex.split(line), cwd=folder).refuse(2 if line in WRONG else 1)
    assert ran.out == ""
    error, remedy_line = ran.err.splitlines()
    assert said in error
    assert remedy in remedy_line
    assert {each: each.read_bytes() for each in folder.iterdir()} == before


def test_existing_run_file_stays_after_a_failure(tmp_path: Path) -> None:
    RunStore(tmp_path / "run").close()
    argv = ("ils", "sweep", "--sizes", "100", "--target", "ldap://127.0.0.1:1", FLAG)
    in_process(*argv, "--out", "run", cwd=tmp_path).refuse(1)
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


TALK = [b"SSH-2.0-OpenSSH_9.2\r\n", b"\0" * 64, b""]
TALKERS = [
    *(("ps", "http", "a web server", text) for text in TALK),
    *(("ils", "ldap", "an LDAP server", text) for text in (*TALK, b"HTTP/1.1 400 No\r\n\r\n")),
]


@pytest.mark.parametrize(("suite", "scheme", "server", "text"), TALKERS)
def test_target_with_wrong_or_no_answers_is_refused(
    suite: str, scheme: str, server: str, text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_SILENCE_S", 1.0)
    monkeypatch.setattr(site, "_ANSWER_S", 1.0)
    with serving(site_that(text, hold)) as port:
        ran = in_process(suite, "run", "--target", f"{scheme}://127.0.0.1:{port}")
    ran.refuse(1, f"does not answer as {server} does", "check host and port")


def test_mistyped_command_line_in_a_subprocess_exits_with_2() -> None:
    ran = sitebench("directory", "run", "--user", "3")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "sitebench: no such option '--user'\n  did you mean --users? `sitebench directory run "
        "--help` lists the options and arguments\n"
    )


def test_refusal_of_a_server_without_spice_programs_lists_left_out_programs() -> None:
    ran = in_process("web", "spice", "--cgi-program", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    *left_out, error, remedy = ran.err.splitlines()
    assert left_out
    assert all(each.startswith("left out: ") for each in left_out)
    assert error == "sitebench: embedded has none of the programs"
    assert "--programs" in remedy
