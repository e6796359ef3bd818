// Shows exact times in UTC or in the reader's own zone, as the reader chose last in this browser. The server writes UTC.

const KEY = "labledger-zone";
const OWN = Intl.DateTimeFormat().resolvedOptions().timeZone;
// A whole time with its zone, or a time on an axis, without its date or without its year.
const WRITTEN = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [^)]+|^\d\d:\d\d:\d\d$|^\d\d-\d\d \d\d:\d\d$/;
const FIELDS = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" };

const name = document.querySelector("[data-zone]");
const button = document.createElement("button");
let format;
let choice = null;

if (name && OWN !== "UTC") start();

function start() {
  button.type = "button";
  button.addEventListener("click", () => {
    choose(isOwn() ? "UTC" : "own");
    write();
  });
  name.parentNode.append(" ", button);
  addEventListener("storage", write);
  // Parts of a live page come in UTC; they are rewritten before they are shown.
  document.addEventListener("labledger:times", ({ detail }) => isOwn() && rewrite(detail));
  write();
}

function isOwn() {
  return chosen() === "own";
}

// Where a browser keeps nothing, the choice lasts as long as the page.
function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return choice;
  }
}

function choose(zone) {
  choice = zone;
  try {
    localStorage.setItem(KEY, zone);
  } catch {}
}

function write() {
  const zone = isOwn() ? OWN : "UTC";
  format = new Intl.DateTimeFormat("en-GB", { ...FIELDS, hourCycle: "h23", timeZone: zone, timeZoneName: "short" });
  name.textContent = zone;
  button.textContent = `Show times in ${isOwn() ? "UTC" : OWN}`;
  rewrite(document);
}

function rewrite(within) {
  for (const time of within.querySelectorAll("time")) {
    const exact = time.querySelector("small") ?? time;
    const text = exact.textContent.replace(WRITTEN, (written) => inZone(new Date(time.dateTime), written));
    if (exact.textContent !== text) exact.textContent = text;
  }
}

// Returns a time in the form in which it was written.
function inZone(at, written) {
  const of = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  if (/^\d\d:/.test(written)) return `${of.hour}:${of.minute}:${of.second}`;
  if (/^\d\d-/.test(written)) return `${of.month}-${of.day} ${of.hour}:${of.minute}`;
  return `${of.year}-${of.month}-${of.day} ${of.hour}:${of.minute}:${of.second} ${of.timeZoneName}`;
}
