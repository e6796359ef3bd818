// A slider over the time of a page: it leads to the page as of the chosen time. Without JavaScript there is a field.

const form = document.querySelector("form[data-since]");
const STEPS = 1_000;

if (form) addSlider();

function addSlider() {
  // A time of JavaScript has milliseconds: the next one is after the begin.
  const since = Date.parse(form.dataset.since) + 1;
  const until = Math.max(Date.now(), since + 1);
  const field = form.elements.as_of;
  const label = document.createElement("label");
  label.htmlFor = "moment-slider";
  label.textContent = "Slide to a time";
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", id: "moment-slider", min: 0, max: STEPS, step: 1 });
  slider.value = Math.round((STEPS * (Date.parse(form.dataset.moment) - since)) / (until - since));
  const chosen = () => new Date(since + ((until - since) * slider.value) / STEPS).toISOString();
  const say = () => slider.setAttribute("aria-valuetext", chosen());
  slider.addEventListener("input", () => {
    field.value = Number(slider.value) === STEPS ? "" : chosen();
    say();
  });
  say();
  const paragraph = document.createElement("p");
  paragraph.className = "slider";
  paragraph.append(label, slider);
  form.prepend(paragraph);
}
