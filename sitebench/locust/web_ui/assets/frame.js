// Locust draws tables in extra tabs and nothing else: the live page is laid over its empty tab, and
// the first fields of the start form are put before its own.
"use strict";
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
const { mixed, operations, chosen, shapes, fields } = window.templateArgs.sitebench_form;

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
for (const [name, title] of [["target", "Target"], ["entries", "Entries"]]) {
  if (!fields[name]) continue;
  const input = document.createElement("input");
  Object.assign(input, { name, value: fields[name].default_value ?? "" });
  first.append(labelled(title, input, fields[name].help_text));
}
const SHAPES = { Default: "Constant: all users until the end", Steps: "Steps: more users, step by step",
  Spike: "Spike: all users for a moment", Knee: "Ramp to the knee: twice as many, as long as that helps" };
first.append(labelled("Load shape", list("shapeClass", shapes.map((name) => [name, SHAPES[name] ?? name]), ["Default"])));
setInterval(() => {
  const form = [...document.forms].find(({ parentElement }) =>
    parentElement.querySelector("h2")?.textContent === "Start new load test");
  if (form && !form.contains(first)) form.prepend(first);
  first.style.colorScheme = localStorage.theme ?? "";
}, 100);

// Locust's host is our target: the form asks for it once, and Locust's page shows it at the top.
// Locust gives it to every class, so in a file with other people's the field is left to them.
const style = document.createElement("style");
style.textContent = (mixed ? '' : '.MuiFormControl-root:has(input[name="host"]) { display: none }')
  + '.sitebench-form { display: grid; gap: 1rem; margin: 1rem 0 }'
  + '.sitebench-form label { display: grid; gap: .2rem; font-size: .8rem }'
  + '.sitebench-form :is(input, select) { font-size: 1rem; padding: .6rem; color: inherit; background: none; border: 1px solid #8888; border-radius: 4px }';
document.head.append(style);
addEventListener("submit", ({ target: form }) => {
  const [host, target] = ["host", "target"].map((name) => form.elements.namedItem(name));
  if (!mixed && host && target) host.value = target.value;
}, true);
