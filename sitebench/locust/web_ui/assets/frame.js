// Locust draws no charts in an extra tab: the live page covers its empty tab, and the first fields
// of the start form precede its own. This script runs before Locust's own.
"use strict";
// The live page is shown first, unless the address names another tab for Locust.
const here = new URL(location.href);
if (!here.searchParams.has("tab")) {
  here.searchParams.set("tab", "sitebench-live");
  history.replaceState(null, "", here);
}

// Locust's page returns to the form, and stops polling, if an answer about its state arrives after
// the start of a test but was requested before it: the request is repeated.
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

let status = "";

function place() {
  const tabs = document.querySelector("[role=tablist]");
  const now = headed("Status")?.textContent.toLowerCase() ?? "";
  // Locust appends our tab; it must be the first, also for keyboard and screen reader.
  if (tabs && tabs.lastChild.textContent === "Live") tabs.prepend(tabs.lastChild);
  if (tabs && now === "stopped" && !["", "ready", now].includes(status)) {
    tabs.firstChild.click(); // The verdict is the answer of a test.
    frame.contentWindow?.scrollTo(0, 0);
  }
  status = now;
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

// Our downloads precede Locust's, whose report has rounded percentiles. Its RPS is a mean over an
// unnamed interval.
setInterval(() => {
  const report = document.querySelector('a[href^="./stats/report"]');
  if (report?.textContent === "Download Report") {
    report.textContent = "Download Locust's report";
    const ours = [...document.querySelectorAll('a[href^="./sitebench/"]')].map((link) => link.parentElement);
    report.parentElement.parentElement.prepend(...ours);
  }
  const rate = [...document.querySelectorAll("header p")].find((title) => title.textContent === "RPS");
  if (rate) rate.textContent = "Steps/s, last\u00a010\u00a0s";
}, 250);

// Return the element below a title at the top of Locust's page.
function headed(title) {
  return [...document.querySelectorAll("header p")].find((name) => name.textContent === title)?.nextElementSibling;
}

// The start form begins with one operation, its target and entries: Locust's own form would run all
// operations together, and folds the other fields. All fields of the form are sent.
const { mixed, operations, chosen, shapes, fields, groups, labels } = window.templateArgs.sitebench_form;

function labelled(title, input, about) {
  const label = document.createElement("label");
  label.append(title, input);
  if (about) label.append(helpOf(about));
  return label;
}

function helpOf(about) {
  const help = document.createElement("small");
  help.className = "sitebench-help";
  help.textContent = about[0].toUpperCase() + about.slice(1);
  return help;
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
first.append(labelled("Operation (Ctrl+click for several)", operation));
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

// Locust's other fields are one long list, labelled by their capitalised names: "Tls Ca".
function group(form) {
  for (const [title, name] of groups) {
    const field = form.elements.namedItem(name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()));
    const row = field?.closest("[class*=AccordionDetails] > div > *");
    if (!row || row.previousElementSibling?.className === "sitebench-group") continue;
    const heading = document.createElement("button");
    heading.type = "button";
    heading.className = "sitebench-group";
    heading.textContent = title;
    heading.onclick = () => unfold(heading, heading.ariaExpanded !== "true");
    row.before(heading);
    unfold(heading, false);
  }
  for (const caption of form.querySelectorAll("label, legend span, .MuiFormControlLabel-label")) {
    const text = caption.firstChild?.nodeType === Node.TEXT_NODE ? caption.firstChild : null;
    const [name, ...about] = text?.nodeValue.split(" (") ?? [];
    if (!labels[name] || !about.length) continue;
    // The frame of the field would cut its help, which is put below.
    text.nodeValue = labels[name];
    const row = caption.closest(".MuiFormControlLabel-label, .MuiFormControl-root");
    if (!row.querySelector("small")) row.append(helpOf(about.join(" (").slice(0, -1)));
  }
}

function unfold(heading, open) {
  heading.ariaExpanded = open;
  for (let row = heading.nextElementSibling; row && row.className !== "sitebench-group"; row = row.nextElementSibling)
    row.style.display = open ? "" : "none";
}

// Locust's own page shows it seconds later, with the last counts.
addEventListener("click", ({ target }) => {
  if (target.closest("button")?.textContent.trim() !== "Stop") return;
  const word = frame.contentDocument?.getElementById("word");
  if (word) word.textContent = "stopping";
  const status = headed("Status")?.firstChild;
  if (status) status.nodeValue = "stopping";
}, true);

// Locust's host is our target: the form has one field for it, and Locust's page shows it at the
// top. Locust gives the host to every class, so in a file with other classes the field belongs to
// them.
const style = document.createElement("style");
style.textContent = (mixed ? '' : '.MuiFormControl-root:has(input[name="host"]) { display: none }')
  // All tabs fit on a common screen; Locust's mark below the chosen tab assumes another order.
  + '[role=tablist] > button { min-width: 0; padding-inline: 10px; border-bottom: 2px solid transparent }'
  + '[role=tablist] > [aria-selected=true] { border-color: currentColor }'
  + '.MuiTabs-indicator { display: none }'
  + '.MuiAppBar-root a:has(> svg) { display: flex; align-items: center; gap: .6rem }'
  + '.MuiAppBar-root a:has(> svg)::after { content: "sitebench"; font-weight: 600 }'
  + '.sitebench-group { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: .4rem 0; text-align: left; cursor: pointer }'
  + '.sitebench-group::before { content: "+"; display: inline-block; width: 1.2em }'
  + '.sitebench-group[aria-expanded=true]::before { content: "\\2212" }'
  + '.sitebench-help { display: block; opacity: .75; font-size: .78rem; line-height: 1.35; white-space: normal }'
  + '.sitebench-form { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; margin: 1rem 0 }'
  + '.sitebench-form label { display: grid; grid-template-columns: minmax(0, 1fr); gap: .2rem; font-size: .8rem }'
  + '.sitebench-form :is(input, select) { font-size: 1rem; padding: .6rem; color: inherit; background: none; border: 1px solid #8888; border-radius: 4px }';
document.head.append(style);
addEventListener("submit", ({ target: form }) => {
  const [host, target] = ["host", "target"].map((name) => form.elements.namedItem(name));
  if (!mixed && host && target) host.value = target.value;
}, true);
