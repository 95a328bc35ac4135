"""Apache in a temporary folder: files, parsed pages, CGI, FastCGI, pages of Lua, TLS."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from sitebench.system.child import serve
from sitebench.system.programs import find_program
from web_bench.targets import started
from web_bench.targets.cgi import PATH as CGI
from web_bench.targets.started import Server, page

PROGRAMS = {
    "cgi-env": f"{CGI}?kind=simcgi",
    "cgi": f"{CGI}?kind={{content}}&size={{size}}",
    "inprocess": "/dynamic/{content}?size={size}",
    "page": "/dynamic/page.shtml",
    "template": "/dynamic/template/{copy}",
    "fastcgi": "/dynamic/fastcgi?kind={content}&size={size}",
}
"""Path of each dynamic kind."""

_AT_ONCE = 640
"""Threads of all processes, more than the papers' 600 clients: where each is busy, Apache closes
connections that it was to keep."""
_NOBODY = "65534"

_FIXED = "# The rest is needed as it is.\n"
_TEMPLATE = """\
# Apache as sitebench starts it; all paths are below a temporary folder.
LoadModule mpm_event_module @modules@/mod_mpm_event.so

# So many processes from beginning to end.
StartServers @threads@
ServerLimit @threads@
ThreadLimit 1024
ThreadsPerChild @threads_each@
MaxRequestWorkers @requests@
MinSpareThreads 1
MaxSpareThreads @requests@
MaxConnectionsPerChild 0
ListenBacklog @backlog@

# Files go from the page cache to the socket.
EnableSendfile On

# A connection ends when its client wants it to.
KeepAlive On
KeepAliveTimeout 3600
MaxKeepAliveRequests 0

# The rest is needed as it is.
LoadModule authz_core_module @modules@/mod_authz_core.so
LoadModule mime_module @modules@/mod_mime.so
LoadModule dir_module @modules@/mod_dir.so
LoadModule alias_module @modules@/mod_alias.so
LoadModule include_module @modules@/mod_include.so
LoadModule cgid_module @modules@/mod_cgid.so
LoadModule proxy_module @modules@/mod_proxy.so
LoadModule proxy_fcgi_module @modules@/mod_proxy_fcgi.so
LoadModule lua_module @modules@/mod_lua.so

ServerName localhost
Listen @host@:@port@
# The same folder by a short name: a socket's path has at most 107 characters.
DefaultRuntimeDir /proc/self/cwd
PidFile apache2.pid
ErrorLog error.log
LogFormat "%h %l %u %t \\"%r\\" %>s %b" common

DocumentRoot docroot
DirectoryIndex index.html
<Directory />
  AllowOverride None
  Options FollowSymLinks Includes ExecCGI
  Require all granted
</Directory>
TypesConfig /dev/null
AddType text/html .html .shtml
AddType text/css .css
AddType text/javascript .js
AddType text/plain .txt
AddType application/json .json
AddType image/gif .gif
AddType image/jpeg .jpg .jpeg
AddType image/png .png
AddType image/svg+xml .svg

# A page that is parsed for each request.
AddOutputFilter INCLUDES .shtml
Alias /dynamic/page.shtml pages/dynamic/page.shtml

# A process for each request, begun by another one than those that serve.
ScriptSock cgid.sock
ScriptAlias /cgi-bin/ programs/cgi-bin/

# A process that stays.
ProxyPass /dynamic/fastcgi unix:fastcgi.sock|fcgi://localhost/dynamic/fastcgi enablereuse=on

# In the process that serves: interpreters that its threads take in turn, each compiles a file once.
LuaScope server 1 @threads_each@
LuaCodeCache forever
LuaMapHandler ^/dynamic/(constant|random)$ programs/text.lua $1
LuaMapHandler ^/dynamic/template/[0-9][0-9]?$ programs/pages.lua template
@tls@"""
_TLS = """
LoadModule ssl_module @modules@/mod_ssl.so
Listen @host@:@secure@
<VirtualHost @host@:@secure@>
  SSLEngine On
  SSLCertificateFile cert.pem
  SSLCertificateKeyFile key.pem
@client_ca@</VirtualHost>
"""
_CLIENT_CA = """\
  SSLCACertificateFile clients.pem
  SSLVerifyClient require
"""

_SEND = """\
-- This part runs once for each thread.
local function send(r, kind, size, piece)
  r.content_type = kind
  r.headers_out["Content-Length"] = tostring(size)
  while size >= #piece do
    r:write(piece)
    size = size - #piece
  end
  if size > 0 then r:write(piece:sub(1, size)) end
  return apache2.OK
end
"""
_TEXT = f"""\
{_SEND}
local PIECE = 8192
local xs = string.rep("x", PIECE)
local begin, finish = "<!DOCTYPE html>\\n<title>sitebench</title>\\n<p>", "</p>\\n"
local characters

local function size(r)
  return tonumber((r.args or ""):match("size=(%d+)")) or 6250
end

-- A page of HTML with so many bytes, as the program of CGI has it.
function constant(r)
  local wanted = size(r)
  local letters = wanted - #begin - #finish
  if letters < 0 then return send(r, "text/html", wanted, xs) end
  r.content_type = "text/html"
  r.headers_out["Content-Length"] = tostring(wanted)
  r:write(begin)
  while letters >= PIECE do
    r:write(xs)
    letters = letters - PIECE
  end
  r:write(xs:sub(1, letters) .. finish)
  return apache2.OK
end

-- Random characters "?" to "X", made once: another part of them for each request.
function random(r)
  if not characters then
    local made = {{}}
    for i = 1, 2 * PIECE do made[i] = string.char(math.random(63, 88)) end
    characters = table.concat(made)
  end
  local from = math.random(PIECE)
  return send(r, "text/plain", size(r), characters:sub(from, from + PIECE - 1))
end
"""
_PAGES = f"""\
{_SEND}
-- A hundred pages, each compiled on its own, when it is asked for first.
local source = [==[
local date = ...
return [=[{page("]=] .. date .. [=[")}]=]
]==]
local pages = {{}}

function template(r)
  local i = tonumber(r.uri:match("%d+$"))
  pages[i] = pages[i] or load(source)
  local text = pages[i](os.date("%Y-%m-%d"))
  return send(r, "text/html", #text, text)
end
"""


serving = functools.partial(started.serving, __name__)


def _argv(program: str, folder: Path) -> Sequence[str]:
    argv = [program, "-d", str(folder), "-f", "apache2.conf", "-D", "FOREGROUND"]
    if os.geteuid() != 0:
        return argv
    # Apache serves no request as root. As another user it must still reach what root may.
    setpriv = find_program("setpriv", "install it (`apt-get install util-linux`)")
    user = [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    return [setpriv, *user, "--inh-caps=+dac_override", "--ambient-caps=+dac_override", *argv]


SERVER = Server(
    "apache2",
    "apache2-bin",
    _TEMPLATE,
    _FIXED,
    "{name} {value}",
    # A backslash at its end would continue it on the next line.
    r".*[^\\]",
    PROGRAMS,
    _argv,
    _TLS,
    _CLIENT_CA,
    lambda threads: {
        "modules": "/usr/lib/apache2/modules",
        "threads_each": str(-(-_AT_ONCE // threads)),
        "requests": str(-(-_AT_ONCE // threads) * threads),
    },
    started.fastcgi,
    {"CustomLog": "access.log common"},
    {"programs/text.lua": _TEXT, "programs/pages.lua": _PAGES},
)


if __name__ == "__main__":
    serve(lambda request: started.start(SERVER, request))
