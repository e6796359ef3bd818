// Keeps pages live. A browser allows one origin six connections, so all tabs share one stream: the visible tab that
// holds a Web Lock receives it, and tells the others by a BroadcastChannel. Without a visible tab there is no stream.

const ADDRESS = document.body.dataset.live;
const NAME = "labledger-live";
// The server says at least every five seconds that it is alive.
const SILENT_MS = 12_000;
const SETTLE_MS = 200;
const ASK_MS = 20_000;
const SPEAK_MS = 10_000;
const RETRY_MS = 3_000;

// The ages that the server wrote grow old; the exact times do not.
const AGES_MS = 5_000;
const UNITS = [["d", 86_400], ["h", 3_600], ["min", 60], ["s", 1]];

if (ADDRESS) setInterval(writeAges, AGES_MS);
if (ADDRESS && navigator.locks && "BroadcastChannel" in window) start();

function start() {
  const channel = new BroadcastChannel(NAME);
  const tab = crypto.randomUUID();
  const state = document.getElementById("live-state");
  let leading = null;
  let waiting = null;
  let heardAt = Date.now();
  let spokenAt = 0;
  let spoken = "";
  let isLoggedIn = true;

  channel.onmessage = ({ data }) => {
    if (data.kind === "who" && !document.hidden) channel.postMessage({ kind: "here", tab, address: ADDRESS });
    else if (data.kind === "heard") heard(data.event);
    else if (leading) leading.note(data);
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : join()));
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => event.persisted && join());
  setInterval(watch, 1_000);
  if (!document.hidden) join();

  function join() {
    heardAt = Date.now();
    isLoggedIn = true;
    if (waiting) return;
    channel.postMessage({ kind: "here", tab, address: ADDRESS });
    waiting = new AbortController();
    navigator.locks
      .request(NAME, { signal: waiting.signal }, () => new Promise((release) => (leading = lead(release))))
      .catch(() => {});
  }

  function leave() {
    channel.postMessage({ kind: "gone", tab });
    waiting?.abort();
    waiting = null;
    leading?.end();
    leading = null;
  }

  function lead(release) {
    let open = new Map([[tab, ADDRESS]]);
    let following = "";
    let source = null;
    let timer = setTimeout(connect, SETTLE_MS);
    const asking = setInterval(ask, ASK_MS);
    channel.postMessage({ kind: "who" });

    // Tabs that were killed do not answer, so they drop out.
    function ask() {
      open = new Map([[tab, ADDRESS]]);
      channel.postMessage({ kind: "who" });
      schedule(SETTLE_MS);
    }
    function schedule(delay) {
      clearTimeout(timer);
      timer = setTimeout(connect, delay);
    }
    function note({ kind, tab: other, address }) {
      // A tab that was opened later than the stream, and lacks what came before: a new stream begins with all.
      if (kind === "behind" && following === "") return;
      else if (kind === "behind") following = "";
      else if (kind === "here") open.set(other, address);
      else if (kind === "gone") open.delete(other);
      schedule(SETTLE_MS);
    }
    function connect() {
      const pages = [...new Set(open.values())].sort().slice(0, 30);
      const query = pages.map((page) => `page=${encodeURIComponent(page)}`).join("&");
      const isOpen = source && source.readyState !== EventSource.CLOSED;
      if (isOpen && query === following) return;
      source?.close();
      following = query;
      source = new EventSource(`/ui/live?${query}`);
      source.addEventListener("page", ({ data }) => tell(JSON.parse(data)));
      source.addEventListener("alive", () => tell({}));
      source.addEventListener("login", () => tell({ isLoginOver: true }));
      source.onerror = () => source.readyState === EventSource.CLOSED && schedule(RETRY_MS);
    }
    function end() {
      clearTimeout(timer);
      clearInterval(asking);
      source?.close();
      release();
    }
    return { note, end };
  }

  function tell(event) {
    channel.postMessage({ kind: "heard", event });
    heard(event);
  }

  function heard(event) {
    heardAt = Date.now();
    if (event.isLoginOver) return endLogin();
    if (!isLoggedIn && !document.hidden) join();
    if (event.page !== ADDRESS) return;
    // What has changed since another state than that of this tab would leave rows of the wrong state.
    if (event.after !== null && event.after !== Number(document.body.dataset.position)) return catchUp();
    let changes = 0;
    for (const [name, html] of Object.entries(event.parts)) changes += update(name, html);
    document.body.dataset.position = event.position;
    if (document.querySelector("[data-same]")) catchUp();
    if (changes) speak("Updated at", Date.now());
  }

  function catchUp() {
    const request = { kind: "behind", tab };
    if (leading) leading.note(request);
    else channel.postMessage(request);
  }

  // Without a login no tab asks again until it is shown again, or another tab has a stream: there may be a new login.
  function endLogin() {
    leave();
    [isLoggedIn, spokenAt] = [false, 0];
    document.body.dataset.state = "cut-off";
    const link = document.createElement("a");
    link.href = `/ui/login?next=${encodeURIComponent(ADDRESS)}`;
    link.textContent = "Log in again";
    state.replaceChildren("The login is over, and this page is not live. ", link);
  }

  function watch() {
    if (!isLoggedIn) return;
    const isLive = document.hidden || Date.now() - heardAt < SILENT_MS;
    document.body.dataset.state = isLive ? "live" : "cut-off";
    if (!isLive) speak("Not live since", heardAt);
  }

  function speak(words, at) {
    const time = document.createElement("time");
    time.dateTime = new Date(at).toISOString();
    time.textContent = `${time.dateTime.slice(0, 19).replace("T", " ")} UTC`;
    const text = `${words} ${time.textContent}`;
    if (spoken === text || Date.now() - spokenAt < SPEAK_MS) return;
    [spokenAt, spoken] = [Date.now(), text];
    state.replaceChildren(`${words} `, time, ".");
    announceTimes(state);
  }
}

// The times in a node are new, and in UTC: `zone.js` may show them in another zone.
function announceTimes(node) {
  document.dispatchEvent(new CustomEvent("labledger:times", { detail: node }));
}

function writeAges() {
  for (const age of document.querySelectorAll("time [data-age]")) {
    const seconds = (Date.now() - Date.parse(age.parentNode.dateTime)) / 1_000;
    const text = seconds >= 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
    if (age.textContent !== text && age.textContent !== "over") age.textContent = text;
  }
}

// In the two largest units, as the server writes them.
function duration(seconds) {
  let left = Math.floor(seconds);
  const numbers = UNITS.map(([unit, size]) => {
    const number = Math.floor(left / size);
    left %= size;
    return [number, unit];
  });
  const first = numbers.findIndex(([number]) => number > 0);
  if (first < 0) return "0 s";
  return numbers.slice(first, first + 2).filter(([number]) => number > 0).map(([number, unit]) => `${number} ${unit}`).join(" ");
}

function update(name, html) {
  const part = document.querySelector(name === "title" ? "title" : `[data-part="${name}"]`);
  if (!part) return 0;
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  announceTimes(fresh.content);
  const focused = document.activeElement;
  complete(part, fresh.content);
  morph(part, fresh.content);
  if (focused.isConnected) focused.focus({ preventScroll: true });
  return 1;
}

// A row with `data-same` stands for that many rows from this one on, which are in the same table of the part already.
function complete(part, content) {
  const tables = part.querySelectorAll("table");
  content.querySelectorAll("table").forEach((table, number) => {
    for (const mark of table.querySelectorAll("tr[data-same]")) {
      let row = tables[number]?.querySelector(`tr[data-key="${CSS.escape(mark.dataset.key)}"]`);
      let left = Number(mark.dataset.same);
      for (; row && left; left -= 1, row = row.nextElementSibling) mark.before(row.cloneNode(true));
      if (!left) mark.remove();
    }
  });
}

// Makes the children of a node equal to those of another one, and keeps the nodes that stay: with them stay focus,
// scroll position, opened details and unfinished input. Rows with a `data-key` are recognised wherever they move.
function morph(target, source) {
  const keyed = new Map();
  const wantedKeys = new Set([...source.children].map((child) => child.dataset?.key));
  for (const child of [...target.children]) {
    const key = child.dataset?.key;
    // First of all, so that the rows after it stay where they are: a moved one would lose the focus.
    if (key && !wantedKeys.has(key)) child.remove();
    else if (key) keyed.set(key, child);
  }
  let place = target.firstChild;
  for (const wanted of [...source.childNodes]) {
    const key = wanted.dataset?.key;
    const found = key ? keyed.get(key) : place;
    if (found && isAlike(found, wanted)) {
      if (found === place) place = place.nextSibling;
      else target.insertBefore(found, place);
      morphNode(found, wanted);
    } else {
      target.insertBefore(wanted, place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function isAlike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && one.dataset?.key === other.dataset?.key;
}

function morphNode(target, source) {
  if (target.nodeType !== Node.ELEMENT_NODE) {
    if (target.nodeValue !== source.nodeValue) target.nodeValue = source.nodeValue;
    return;
  }
  for (const { name, value } of source.attributes) {
    if (target.getAttribute(name) !== value) target.setAttribute(name, value);
  }
  for (const { name } of [...target.attributes]) {
    const isOpened = name === "open" && target.nodeName === "DETAILS";
    if (!source.hasAttribute(name) && !isOpened) target.removeAttribute(name);
  }
  morph(target, source);
}
