// Locust draws no charts in an extra tab: the live page is laid over its empty tab, and
// the first fields of the start form are put before its own. This runs before Locust's own script.
"use strict";
// The live page is in front unless another tab is asked for; Locust reads that from the address.
const here = new URL(location.href);
if (!here.searchParams.has("tab")) {
  here.searchParams.set("tab", "sitebench-live");
  history.replaceState(null, "", here);
}

// Locust's page goes back to the form, and polls no more, where an answer about its state that was sent for before a test
// was started arrives after that: such an answer is sent for again.
const fetched = window.fetch;
let starts = 0;
window.fetch = async (...request) => {
  const { pathname } = new URL(request[0].url ?? request[0], location);
  const before = starts, reply = await fetched(...request);
  if (pathname.endsWith("/swarm")) starts++;
  return before !== starts && pathname.endsWith("/stats/requests") ? window.fetch(...request) : reply;
};

const frame = document.createElement("iframe");
frame.title = "Live";
frame.style.cssText = "position:absolute;left:0;width:100%;border:0;display:none;z-index:1";
document.body.append(frame);

function place() {
  const tabs = document.querySelector("[role=tablist]");
  const chosen = tabs && tabs.querySelector("[aria-selected=true]");
  if (!chosen || chosen.textContent !== "Live") {
    if (frame.style.display !== "none") {
      frame.style.display = "none";
      frame.removeAttribute("src"); // A hidden page polls nothing.
    }
    return;
  }
  const theme = localStorage.theme ? `?theme=${localStorage.theme}` : "";
  if (frame.getAttribute("src") !== `./sitebench/live${theme}`) {
    frame.src = `./sitebench/live${theme}`;
  }
  const top = Math.round(tabs.getBoundingClientRect().bottom + scrollY) + 8;
  Object.assign(frame.style, {
    display: "block",
    top: `${top}px`,
    height: `${Math.max(320, innerHeight - top)}px`,
  });
}
setInterval(place, 250);

// The start form begins with one operation, its target and entries: Locust's would run all
// operations together, and has the others among its folded parameters. What is in the form is sent.
const { mixed, operations, chosen, shapes, fields, groups, labels } = window.templateArgs.sitebench_form;

function labelled(title, input, about) {
  const label = document.createElement("label");
  label.append(title, input);
  if (about) label.title = about;
  return label;
}

function list(name, options, chosen) {
  const select = document.createElement("select");
  select.name = name;
  select.append(...options.map(([value, text]) => new Option(text, value, false, chosen.includes(value))));
  return select;
}

const first = document.createElement("div");
first.className = "sitebench-form";
const operation = list("userClasses", operations.map(({ name, about }) => [name, about ? `${name}: ${about}` : name]), chosen);
Object.assign(operation, { multiple: true, required: true, size: Math.min(8, operations.length) });
first.append(labelled("Operation (Ctrl and a click choose several)", operation));
for (const { name, title, default_value: value, help_text: about } of fields) {
  const input = document.createElement("input");
  Object.assign(input, { name, value: value ?? "" });
  first.append(labelled(title, input, about));
}
if (shapes.length > 1) {
  const named = shapes.map((name) => [name, name === "Default" ? "Constant: all users until the end" : name]);
  first.append(labelled("Load shape", list("shapeClass", named, ["Default"])));
}
setInterval(() => {
  const form = [...document.forms].find(({ parentElement }) =>
    parentElement.querySelector("h2")?.textContent === "Start new load test");
  if (form && !form.contains(first)) form.prepend(first);
  first.style.colorScheme = localStorage.theme ?? "";
  if (form) group(form);
}, 100);

// Locust's other fields are one long list, each labelled by its name with capitals: "Tls Ca".
function group(form) {
  for (const [title, name] of groups) {
    const field = form.elements.namedItem(name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()));
    const row = field?.closest("[class*=AccordionDetails] > div > *");
    if (!row || row.previousElementSibling?.className === "sitebench-group") continue;
    const heading = document.createElement("h4");
    heading.className = "sitebench-group";
    heading.textContent = title;
    row.before(heading);
  }
  for (const each of form.querySelectorAll("label, legend span, .MuiFormControlLabel-label")) {
    const text = each.childNodes.length === 1 && each.firstChild.nodeType === Node.TEXT_NODE ? each.firstChild : null;
    const name = text?.nodeValue.split(" (")[0];
    if (labels[name] && labels[name] !== name) text.nodeValue = labels[name] + text.nodeValue.slice(name.length);
  }
}

// Locust's own page says so when the last counts are there, seconds later.
addEventListener("click", ({ target }) => {
  if (target.closest("button")?.textContent.trim() !== "Stop") return;
  const word = frame.contentDocument?.getElementById("word");
  if (word) word.textContent = "stopping";
  for (const title of document.querySelectorAll("header p")) {
    const status = title.textContent === "Status" && title.nextElementSibling?.firstChild;
    if (status) status.nodeValue = "stopping";
  }
}, true);

// Locust's host is our target: the form asks for it once, and Locust's page shows it at the top.
// Locust gives it to every class, so in a file with other people's the field is left to them.
const style = document.createElement("style");
style.textContent = (mixed ? '' : '.MuiFormControl-root:has(input[name="host"]) { display: none }')
  // Our tab is Locust's last: it comes first, and all are in view on a common screen.
  + '[role=tablist] > button:last-of-type { order: -1 }'
  + '[role=tablist] > button { min-width: 0; padding-inline: 10px }'
  + '.MuiAppBar-root a:has(> svg) { display: flex; align-items: center; gap: .6rem }'
  + '.MuiAppBar-root a:has(> svg)::after { content: "sitebench"; font-weight: 600 }'
  + '.sitebench-group { margin: 0 0 -1rem }'
  + '.sitebench-form { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; margin: 1rem 0 }'
  + '.sitebench-form label { display: grid; grid-template-columns: minmax(0, 1fr); gap: .2rem; font-size: .8rem }'
  + '.sitebench-form :is(input, select) { font-size: 1rem; padding: .6rem; color: inherit; background: none; border: 1px solid #8888; border-radius: 4px }';
document.head.append(style);
addEventListener("submit", ({ target: form }) => {
  const [host, target] = ["host", "target"].map((name) => form.elements.namedItem(name));
  if (!mixed && host && target) host.value = target.value;
}, true);
