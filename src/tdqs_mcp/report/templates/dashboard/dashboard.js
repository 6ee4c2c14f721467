"use strict";
const filter = document.getElementById("filter");
if (filter) {
  for (const select of filter.querySelectorAll("select")) select.addEventListener("change", () => filter.requestSubmit());
}
const narrow = document.getElementById("narrow");
const rows = narrow ? [...document.querySelectorAll("#tools tbody tr")] : [];
if (rows.length > 10) {
  narrow.hidden = false;
  narrow.addEventListener("submit", (event) => event.preventDefault());
  const box = narrow.querySelector("input"), status = narrow.querySelector("[role=status]");
  const show = () => {
    const wanted = box.value.toLowerCase();
    for (const row of rows) row.hidden = !row.querySelector(".name").textContent.toLowerCase().includes(wanted);
    const shown = rows.filter((row) => !row.hidden).length;
    status.textContent = shown === rows.length ? `${shown} tools` : `${shown} of ${rows.length} tools`;
  };
  box.addEventListener("input", show);
  show();
}
