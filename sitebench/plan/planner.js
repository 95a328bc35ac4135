// The planner of a page: every input recalculates every number.
// LAWS and DATA come from sitebench.plan.page; the laws are those of model.py, written by formula.py.
(function () {
  "use strict";
  const count = (x) => Math.floor(x + 0.5).toLocaleString("en-US");
  const percent = (x) => (x * 100).toFixed(1) + "%";
  const FORMATS = { simultaneous: count, served: count, online: count, machines: count, busy: percent };

  function solve(suite, inputs) {
    const values = Object.assign({}, inputs);
    for (const [key, law] of LAWS[suite]) values[key] = law(values);
    return values;
  }

  function number(field) {
    // An empty or out-of-range input gives no answer, rather than a wrong one.
    const valid = field.value !== "" && field.checkValidity();
    return valid ? Number(field.value) / Number(field.dataset.per) * Number(field.dataset.times) : NaN;
  }

  function numbers(root) {
    return Object.fromEntries([...root.querySelectorAll("input[type=number]")].map((field) => [field.name, number(field)]));
  }

  function write(root, values, isPossible) {
    for (const cell of root.querySelectorAll("output[data-answer]")) {
      const value = values[cell.dataset.answer];
      const valid = Number.isFinite(value) && isPossible;
      cell.value = valid ? FORMATS[cell.dataset.answer](value) : "n/a";
      cell.dataset.value = valid ? String(value) : "";
    }
  }

  function start(root) {
    const suite = root.dataset.suite;
    const tables = DATA[suite];
    let isChosen = false;  // The size, by the reader.
    const find = (name) => root.querySelector(`[name="${name}"]`);
    const table = () => tables[Number(find("machine").value)];

    function offerSizes() {
      const select = find("size");
      select.replaceChildren();
      table().sizes.forEach((size, n) => {
        select.add(new Option(size ? size.toLocaleString("en-US") : "any", String(n)));
      });
      isChosen = false;
    }

    // The smallest measured size with room for the people, as the command takes it; else the largest.
    function fitSize() {
      let fitting = "0";
      for (const option of find("size").options) {
        find("size").value = option.value;
        const people = perMachine(solve(suite, inputs()));
        if (Number.isNaN(people)) continue;
        fitting = option.value;
        if (people <= (table().sizes[Number(fitting)] || Infinity)) break;
      }
      find("size").value = fitting;
    }

    function inputs() {
      const values = numbers(root);
      for (const field of root.querySelectorAll('[name="wait_factor"], [name="lists_all"]')) values[field.name] = Number(field.value);
      for (const [name, row] of Object.entries(table().rates)) {
        values[name] = row[Number(find("size").value)] ?? NaN;
      }
      return values;
    }

    function perMachine(values) {
      return "view_s" in values || values.lists_all ? values.community : values.online / values.machines;
    }

    function remarks(values) {
      return table().remarks[Number(find("size").value)]
        .filter(([operation]) => values[`n_${operation}`] !== 0).map(([, text]) => `* ${text}. `).join("");
    }

    function warning(values) {
      const size = table().sizes[Number(find("size").value)];
      const people = perMachine(values);
      if (!Number.isFinite(values.machines)) return "No answer: an input is missing or out of range, or an operation has no rate at this size.";
      if (values.busy_limit <= 0) return "No answer: even an idle machine takes longer than the objective.";
      if (!size || people <= size) return "";
      return `Each machine would have ${count(people)} people; its rates were measured with ${size.toLocaleString("en-US")}` +
        (people > 2 * size ? ", less than half as many: measure before relying on this." : ".");
    }

    function show() {
      if (!isChosen) fitSize();
      const values = solve(suite, inputs());
      write(root, values, values.busy_limit > 0);
      root.querySelector(".plan-warning").textContent = remarks(values) + warning(values);
      draw(root.querySelector("svg"), suite, values);
    }

    root.addEventListener("input", (event) => {
      const moved = event.target;
      if (moved.type === "range") {
        find(moved.dataset.of).value = moved.dataset.log ? String(round(10 ** Number(moved.value))) : moved.value;
      } else if (moved.type === "number") {
        const slider = root.querySelector(`[data-of="${moved.name}"]`);
        if (slider) slider.value = slider.dataset.log ? String(Math.log10(Number(moved.value))) : moved.value;
      } else if (moved.name === "machine") {
        offerSizes();
      } else if (moved.name === "size") {
        isChosen = true;
      }
      show();
    });
    offerSizes();
    show();
  }

  // A slider over nine decades steps by two digits.
  function round(people) {
    return Number(people.toPrecision(2));
  }

  function draw(svg, suite, values) {
    const top = Number(svg.parentElement.dataset.top), width = 300, height = 120;
    const points = [];
    for (let n = 1; n <= 40; n++) {
      const active = (top * n) / 40;
      points.push([active, solve(suite, Object.assign({}, values, { active })).served]);
    }
    const most = points[3][1];
    const across = (active) => (Math.min(active, top) / top) * width;
    const up = (served) => height - Math.min(served / most, 1) * height;
    const valid = Number.isFinite(most) && most > 0;
    svg.querySelector("polyline").setAttribute("points", valid
      ? points.slice(3).map(([a, s]) => `${across(a).toFixed(1)},${up(s).toFixed(1)}`).join(" ") : "");
    const mark = svg.querySelector("circle");
    mark.setAttribute("cx", valid ? across(values.active).toFixed(1) : "-9");
    mark.setAttribute("cy", valid ? up(values.served).toFixed(1) : "-9");
    svg.querySelector(".plan-most").textContent = valid ? count(most) : "";
  }

  for (const root of document.querySelectorAll(".plan-suite")) start(root);
})();
