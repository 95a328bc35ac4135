"use strict";
// Draws every figure from the data in the page, and again after a change of a list, the window or
// the chosen series. Nothing is fetched.
(async () => {
  const unpack = async (id) => {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  // A dataset by column (see charts.py): a list, or codes into names.
  const rows = (columns) => {
    const spread = Object.entries(columns).map(([name, c]) =>
      [name, c.codes ? c.codes.map((code) => c.names[code]) : c]);
    return spread[0][1].map((_, n) => Object.fromEntries(spread.map(([name, c]) => [name, c[n]])));
  };

  // In a column of drawings, widths must be numbers. A legend is beside its drawing, or above it on
  // a narrow screen.
  const AXES = 84, LEGEND = 130, NARROW = 640;
  const fit = (spec, width) => {
    if (!spec.vconcat) {
      // With autosize, the width includes the axes.
      if (spec.width === "container") spec.width = spec.autosize ? width : Math.max(120, width - AXES);
      return spec;
    }
    const narrow = width < NARROW;
    const text = JSON.stringify(spec);
    const widened = JSON.parse(narrow ? text.replaceAll('"orient":"right","columns":1', '"orient":"top","columns":3') : text);
    widened.vconcat.forEach((part) => { part.width = Math.max(120, width - AXES - (narrow ? 0 : LEGEND)); });
    return widened;
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

    // In scales, the names of the series replace "all series".
    listed() {
      return JSON.parse(JSON.stringify(this.chart.spec).replaceAll('"all series"', JSON.stringify(this.series)));
    }

    get field() {
      return this.chart.spec.usermeta?.series;
    }

    get series() {
      const names = this.field ? Object.values(this.sets).flat().map((row) => row[this.field]) : [];
      return [...new Set(names)].filter((name) => name !== undefined);
    }

    // The arrow keys show one series at a time and Escape all series, like a click in the legend.
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

  const figures = [...document.querySelectorAll("figure.chart")].map((element) => new Figure(element));
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
  // One after the other: the first figures are visible before the last are drawn.
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

  document.querySelectorAll("details").forEach((details) => details.addEventListener("toggle", () => figures
    .filter((figure) => details.contains(figure.element) && !figure.width)
    .forEach((figure) => figure.draw())));
})();
