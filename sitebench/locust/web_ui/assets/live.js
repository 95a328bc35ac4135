// The live page: polls new figures and draws them as plain SVG paths. It must use little CPU, as
// the browser often runs on the machine that makes the load.
"use strict";
const ASK_MS = 2000, SPAN_S = 180, HEIGHT = 170, LEFT = 58, BOTTOM = 20, TOP = 8;
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

const count = (v) => v >= 1e6 ? `${+(v / 1e6).toPrecision(3)}M` : v >= 1e4 ? `${+(v / 1e3).toPrecision(3)}k`
  : v >= 100 ? Math.round(v).toLocaleString("en") : `${+v.toPrecision(3)}`;
const micros = (v) => v >= 1e6 ? `${+(v / 1e6).toPrecision(3)} s` : v >= 1e3 ? `${+(v / 1e3).toPrecision(3)} ms`
  : `${+v.toPrecision(3)} µs`;
const bytes = (v) => v >= 1e9 ? `${+(v / 1e9).toPrecision(3)} GB` : v >= 1e6 ? `${+(v / 1e6).toPrecision(3)} MB`
  : v >= 1e3 ? `${+(v / 1e3).toPrecision(3)} KB` : `${Math.round(v)} B`;

const CHARTS = [
  { id: "rate", title: "Per second, now", of: "moments", show: count, lines: [
    ["per_s", "operations", 1], ["failed_per_s", "failed", 2, "dashed"]] },
  { id: "latency", title: "Latency, over 5 s", of: "moments", show: micros, log: true, lines: [
    ["p50_us", "p50", 3], ["p99_us", "p99", 5], ["max_us", "max", 2, "dotted"]] },
  { id: "cpu", title: "Cores used", of: "loads", show: count, lines: [
    ["target_cores", "target", 1], ["generator_cores", "load generator", 2, "dashed"],
    ["busy_cores", "whole machine", 8, "dotted"]] },
  { id: "network", title: "Bytes per second, at the lanes", of: "moments", show: bytes, lines: [
    ["bytes_in_per_s", "received", 1], ["bytes_out_per_s", "sent", 2, "dashed"]] },
  { id: "memory", title: "Memory", of: "loads", show: bytes, lines: [
    ["target_bytes", "target", 1], ["generator_bytes", "load generator", 2, "dashed"]] },
  { id: "users", title: "Lanes", of: "moments", show: count, lines: [["lanes", "lanes", 7]] },
];
const DASH = { dashed: "6 3", dotted: "2 3" };

let test = -1, series = { moments: {}, loads: {} };

function append(name, attributes, parent) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}

function frames() {
  for (const chart of CHARTS) {
    const figure = document.createElement("figure");
    figure.dataset.chart = chart.id;
    const caption = document.createElement("figcaption");
    caption.append(chart.title);
    chart.keys = chart.lines.map(([, name, colour, dash]) => {
      const key = document.createElement("span");
      key.className = "key";
      key.style.setProperty("--of", `var(--series-${colour})`);
      if (dash) key.style.setProperty("--dash", dash);
      key.textContent = name;
      caption.append(key);
      return key;
    });
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", chart.title);
    chart.svg = svg;
    chart.grid = append("g", {}, svg);
    chart.paths = chart.lines.map(([, , colour, dash]) => append("path", {
      style: `stroke:var(--series-${colour})`, "stroke-dasharray": DASH[dash] ?? "none" }, svg));
    figure.append(caption, svg);
    $("charts").append(figure);
  }
}

function ticks(low, high, log) {
  if (log) {
    const powers = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      if (10 ** power >= low && 10 ** power <= high) powers.push(10 ** power);
    }
    return powers;
  }
  const rough = (high - low) / 4, scale = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * scale).find((n) => n >= rough);
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, n) => n * step);
}

function draw(chart) {
  const width = chart.svg.clientWidth || 400;
  chart.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const data = series[chart.of], times = data.at_s ?? [];
  const last = times.at(-1) ?? 0, span = Math.min(SPAN_S, Math.max(30, last));
  const end = Math.max(span, last), begin = end - span, apart = span > 60 ? 30 : 10;
  const first = Math.max(0, times.findIndex((t) => t >= begin));
  let low = Infinity, high = 0;
  for (const [name] of chart.lines) {
    for (const v of (data[name] ?? []).slice(first)) {
      if (v === null || (chart.log && v <= 0)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  if (chart.log) {
    low = 10 ** Math.floor(Math.log10(Number.isFinite(low) ? low : 10));
    high = 10 ** Math.ceil(Math.log10(Math.max(high, low * 10)));
  } else {
    low = 0;
    high = (high || 1) * 1.08;
  }
  const x = (t) => LEFT + (t - begin) / span * (width - LEFT - 6);
  const scaled = chart.log ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => v / high;
  const y = (v) => HEIGHT - BOTTOM - scaled(v) * (HEIGHT - BOTTOM - TOP);
  chart.grid.replaceChildren();
  for (const v of ticks(low, high, chart.log)) {
    append("line", { x1: LEFT, x2: width - 6, y1: y(v), y2: y(v) }, chart.grid);
    append("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, chart.grid).textContent = chart.show(v);
  }
  for (let t = Math.ceil(begin / apart) * apart; t <= end; t += apart) {
    append("text", { x: x(t), y: HEIGHT - 5, "text-anchor": t > end - apart / 4 ? "end" : "middle" }, chart.grid)
      .textContent = `${t} s`;
  }
  chart.lines.forEach(([name, title], n) => {
    const values = (data[name] ?? []).slice(first);
    let path = "", pen = false;
    values.forEach((v, at) => {
      if (v === null || (chart.log && v <= 0)) { pen = false; return; }
      path += `${pen ? "L" : "M"}${x(times[first + at]).toFixed(1)} ${y(v).toFixed(1)}`;
      pen = true;
    });
    chart.paths[n].setAttribute("d", path);
    const last = values.at(-1);
    chart.keys[n].textContent = last === undefined || last === null ? title : `${title} ${chart.show(last)}`;
  });
}

function fill(section, columns, rows) {
  $(section).hidden = !rows.length;
  if (!rows.length) return;
  const [head, body] = ["thead", "tbody"].map((name) => document.querySelector(`#${section} ${name}`));
  const line = (cells, tag) => {
    const row = document.createElement("tr");
    for (const [text, figure] of cells) {
      const cell = document.createElement(tag);
      cell.textContent = text ?? "";
      if (figure) cell.className = "figure";
      row.append(cell);
    }
    return row;
  };
  if (!head.firstChild) head.append(line(columns.map(([, title, show]) => [title, show]), "th"));
  body.replaceChildren(...rows.map((row) => line(columns.map(([key, , show]) => [
    row[key] === null || row[key] === undefined ? ""
      : (row.at_least?.includes(key) ? ">= " : "") + (show ? show(row[key]) : row[key]), show]), "td")));
}

const figure = (v) => v.toLocaleString("en", { maximumFractionDigits: 1 });
const steps = (rows) => [["program", "Program"], ["step", "Step"], ["count", "Done", figure], ["failed", "Failed", figure],
  ...Object.keys(rows[0] ?? {}).filter((key) => /^p\d/.test(key)).map((key) => [key, key, figure]),
  ["max", "Max", figure], ["mean", "Mean", figure]];
const TESTS = [["title", "Test"], ["per_s", "Per second, whole window", figure], ["verdict", "Verdict"]];
const RESOURCES = [["who", "Source"], ["what", "Figure"], ["now", "Now"]];

function show(data) {
  $("title").textContent = data.title;
  $("word").textContent = data.word;
  const preparing = data.preparing;
  $("filling").hidden = !preparing;
  $("charts").hidden = Boolean(preparing);
  if (preparing) {
    $("word").textContent += preparing.total
      ? `: ${figure(preparing.done)} of ${figure(preparing.total)} people, ${preparing.elapsed_s} s`
      : `, ${preparing.elapsed_s} s`;
    if (preparing.total) {
      $("filled").max = preparing.total;
      $("filled").value = preparing.done;
    } else {
      $("filled").removeAttribute("value");
    }
  }
  const bound = data.bound;
  $("stamp").hidden = !bound;
  if (bound) {
    const kind = bound.grade === "not usable" ? "bad" : bound.valid && !bound.warnings.length ? "good" : "doubt";
    $("stamp").firstChild.textContent = `${data.quoted}, over the whole window`;
    $("stamp").firstChild.className = `stamp ${kind}`;
    $("evidence").textContent = bound.evidence;
  }
  $("warnings").replaceChildren(...data.findings.map(({ what, message, remedy }) => {
    const item = document.createElement("li"), name = document.createElement("b");
    name.textContent = what;
    item.append(name, message);
    if (what === "Error") item.className = "bad";
    if (remedy) {
      const advice = document.createElement("div");
      advice.className = "remedy";
      advice.textContent = remedy;
      item.append(advice);
    }
    return item;
  }));
}

function keep(kind, columns) {
  for (const [name, values] of Object.entries(columns)) {
    series[kind][name] = [...(series[kind][name] ?? []), ...values].slice(-1200);
  }
}

async function ask() {
  const last = Math.min(...["moments", "loads"].map((kind) => series[kind].at_s?.at(-1) ?? -1));
  try {
    const answer = await fetch(`./live.json?test=${test}&after=${last}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const data = await answer.json();
    if (data.test !== test) series = { moments: {}, loads: {} };
    test = data.test;
    for (const kind of ["moments", "loads"]) {
      const from = series[kind].at_s?.at(-1) ?? -1;
      const skip = data[kind].at_s.findIndex((t) => t > from);
      if (skip >= 0) {
        keep(kind, Object.fromEntries(Object.entries(data[kind]).map(([k, v]) => [k, v.slice(skip)])));
      }
    }
    show(data);
    CHARTS.forEach(draw);
    fill("micros", steps(data.steps), data.steps);
    fill("resources", RESOURCES, data.resources);
    fill("tests", TESTS, data.tests.map((row) => ({
      ...row, verdict: row.error ?? row.quoted ?? "running",
    })).reverse());
  } catch (error) {
    $("word").textContent = `Locust does not answer: ${error.message}`;
  }
  // While the target is being prepared, nothing is measured, and frequent polls disturb nothing.
  setTimeout(ask, $("filling").hidden ? ASK_MS : ASK_MS / 4);
}

frames();
ask();
