"use strict";
// Draws every figure of the page from the data in it, and again when a list, the window or the
// chosen series changes. Everything is here already: nothing is fetched.
(async () => {
  const unpack = async (id) => {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  // A dataset by column (see charts.py): a list, one value for all, or codes into names.
  const rows = (columns) => {
    const spread = Object.entries(columns).map(([name, c]) =>
      [name, c && c.codes ? c.codes.map((code) => c.names[code]) : c]);
    const length = Math.max(0, ...spread.map(([, c]) => (Array.isArray(c) ? c.length : 0)));
    return Array.from({ length }, (_, n) =>
      Object.fromEntries(spread.map(([name, c]) => [name, Array.isArray(c) ? c[n] : c])));
  };

  // In a column of charts nothing can be as wide as its container but by number; beside each is
  // its legend, or above it where the screen is narrow.
  const AXES = 84, LEGEND = 130, NARROW = 640;
  const fit = (spec, width) => {
    if (!spec.vconcat) {
      // One that fits itself into its width has its axes in it.
      if (spec.width === "container") spec.width = spec.autosize ? width : Math.max(120, width - AXES);
      return spec;
    }
    const narrow = width < NARROW;
    const text = JSON.stringify(spec);
    const made = JSON.parse(narrow ? text.replaceAll('"orient":"right","columns":1', '"orient":"top","columns":3') : text);
    made.vconcat.forEach((part) => { part.width = Math.max(120, width - AXES - (narrow ? 0 : LEGEND)); });
    return made;
  };

  const { theme, charts, files } = await unpack("data");
  for (const link of document.querySelectorAll("a[data-file]")) {
    link.href = URL.createObjectURL(new Blob([files[link.dataset.file]], { type: "text/plain" }));
  }

  const options = {
    mode: "vega-lite", renderer: "svg", actions: false, ast: true, config: theme, logLevel: 1,
    tooltip: { theme: "custom" },
  };

  class Figure {
    constructor(element) {
      this.element = element;
      this.place = element.querySelector(".drawing");
      this.chart = charts[element.dataset.chart];
      this.chooser = this.chart.chooser ? document.getElementById(this.chart.chooser) : null;
      this.busy = Promise.resolve();
      this.width = 0;
      this.place.addEventListener("keydown", (event) => this.key(event));
    }

    get datasets() {
      const chosen = this.chart.choices[this.chooser ? this.chooser.value : ""] || {};
      return Object.fromEntries(Object.entries(chosen).map(([name, columns]) => [name, rows(columns)]));
    }

    draw() {
      this.busy = this.busy.then(() => this.drawNow()).catch((error) => {
        this.element.dataset.state = "failed";
        this.place.textContent = `This chart could not be drawn (${error.message}).`;
      });
      return this.busy;
    }

    async drawNow() {
      if (this.element.closest("details:not([open])")) return;
      this.width = this.place.clientWidth;
      if (!this.width) return;
      if (this.view) this.view.finalize();
      this.sets = this.datasets;
      const spec = fit(this.listed(), this.width);
      const empty = !Object.values(this.sets).some((set) => set.length);
      this.element.hidden = empty;
      if (empty) return;
      spec.datasets = this.sets;
      spec.description = this.chart.description;
      this.view = (await vegaEmbed(this.place, spec, options)).view;
      this.element.dataset.state = "drawn";
    }

    // Where a scale has to list the series of a dataset, they take the place of "all series".
    listed() {
      const text = JSON.stringify(this.chart.spec);
      return JSON.parse(text.replaceAll('"all series"', JSON.stringify(this.series)));
    }

    get field() {
      return this.chart.spec.usermeta && this.chart.spec.usermeta.series;
    }

    get series() {
      return this.field ? [...new Set(Object.values(this.sets).flat().map((row) => row[this.field]))]
        .filter((name) => name !== undefined) : [];
    }

    // Left and right show one series at a time, Escape all of them: what a click in the legend does.
    key(event) {
      const all = this.series;
      if (!all.length || !this.view) return;
      const step = { ArrowRight: 1, ArrowLeft: -1, Escape: 0 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const now = all.indexOf(this.only);
      this.only = step ? all[(now + step + (now < 0 && step < 0 ? 1 : 0) + all.length) % all.length] : null;
      this.view.signal(`shown_${this.field}_legend`, this.only).runAsync();
      this.place.setAttribute("aria-label",
        this.only === null ? this.chart.description : `${this.chart.description} Only ${this.only}.`);
    }
  }

  const figures = [...document.querySelectorAll("figure.chart")].map((each) => new Figure(each));
  const tables = [];
  for (const list of document.querySelectorAll("select[data-chooser]")) {
    const choose = () => {
      figures.filter((figure) => figure.chooser === list).forEach((figure) => {
        figure.element.hidden = false;
        figure.draw();
      });
      document.querySelectorAll(`[data-chosen-by="${list.id}"]`).forEach((part) => {
        part.hidden = part.dataset.choice !== list.value;
      });
    };
    list.addEventListener("change", choose);
    choose();
  }
  // One after the other, so that the first ones are there while the last are still being made.
  for (const figure of figures) if (!figure.chooser) await figure.draw();
  await Promise.all(figures.map((figure) => figure.busy));
  document.documentElement.dataset.state = "drawn";

  let waiting;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => figures
      .filter((figure) => figure.place.clientWidth && figure.place.clientWidth !== figure.width)
      .forEach((figure) => figure.draw()), 150);
  });

  document.querySelectorAll("details").forEach((each) => each.addEventListener("toggle", () => figures
    .filter((figure) => each.contains(figure.element) && !figure.width)
    .forEach((figure) => figure.draw())));
})();
