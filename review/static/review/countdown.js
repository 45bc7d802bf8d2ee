// The live countdown of a serve. It counts from the seconds the server stated, so a wrong clock on the visitor's
// side changes nothing; the server alone decides whether a verdict is in time.

const clock = document.getElementById("clock");
const shown = clock.querySelector("[data-clock]");
const announce = clock.querySelector("[data-announce]");
const total = Number(clock.dataset.seconds);
const started = performance.now();
const WARN_AT = [300, 120, 30];
let next = WARN_AT.find((seconds) => seconds < total);

function words(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = String(seconds % 60).padStart(2, "0");
  if (minutes >= 60) {
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
  }
  return `${minutes}:${rest} left`;
}

function end() {
  clock.classList.add("over");
  shown.textContent = "Time is over";
  announce.textContent = "The time for this view is over. Open it again; your words stay.";
  for (const button of document.querySelectorAll("form[data-verdict] button[name=verdict]")) {
    button.disabled = true;
  }
  const again = document.getElementById("again");
  again.classList.replace("plain", "primary");
}

function tick() {
  const left = Math.max(0, total - Math.floor((performance.now() - started) / 1000));
  if (left === 0) {
    end();
    return;
  }
  shown.textContent = words(left);
  if (next !== undefined && left <= next) {
    // Said a few times, not every second: a live region that never rests helps nobody.
    const minutes = Math.round(left / 60);
    announce.textContent = minutes > 0 ? `${minutes} minutes left for this view` : "Less than a minute left for this view";
    next = WARN_AT.find((seconds) => seconds < next);
  }
  setTimeout(tick, 1000);
}

tick();
