// What goes wrong before the check runs is kept for it.
window.failures = [];
addEventListener("error", event => window.failures.push(event.message + " " + event.filename + ":" + event.lineno));
addEventListener("unhandledrejection", event => window.failures.push(String(event.reason)));
for (const level of ["error", "warn"]) {
  console[level] = (...words) => window.failures.push(words.join(" "));
}
