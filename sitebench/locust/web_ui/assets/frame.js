// Locust draws tables in extra tabs and nothing else: the live page is laid over its empty tab.
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

// Locust's host is our target: the form asks for it once, and Locust's page shows it at the top.
const style = document.createElement("style");
style.textContent = '.MuiFormControl-root:has(input[name="host"]) { display: none }';
document.head.append(style);
addEventListener("submit", ({ target: form }) => {
  const [host, target] = ["host", "target"].map((name) => form.elements.namedItem(name));
  if (host && target) host.value = target.value;
}, true);
