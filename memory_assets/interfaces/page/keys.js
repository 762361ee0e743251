// Keys: "/" searches; on the review page j, k move, a, r decide, w and e open fields, u undoes.
"use strict";

const proposals = [...document.querySelectorAll(".proposal")];
let current = 0;

function move(step) {
  current = Math.max(0, Math.min(proposals.length - 1, current + step));
  proposals[current].focus();
  proposals[current].scrollIntoView({ block: "nearest" });
}

const actions = {
  "/": () => document.querySelector("input[type=search]").focus(),
  j: () => move(1),
  k: () => move(-1),
  a: () => proposals[current].querySelector("button.approve").click(),
  r: () => proposals[current].querySelector("button.reject").click(),
  w: () => proposals[current].querySelector(".reason").focus(),
  e: () => {
    const edit = proposals[current].querySelector("details.edit");
    edit.open = true;
    edit.querySelector("textarea").focus();
  },
  u: () => document.querySelector("#undo button").click(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches(".reason")) move(0);
  const isTyping = event.target.matches("input, textarea, select");
  const action = actions[event.key];
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !action) return;
  if (event.key !== "/" && event.key !== "u" && !proposals.length) return;
  if (event.key === "u" && !document.querySelector("#undo")) return;
  event.preventDefault();
  action();
});

document.addEventListener("focusin", (event) => {
  const place = proposals.indexOf(event.target.closest(".proposal"));
  if (place >= 0) current = place;
});

const linked = proposals.findIndex((proposal) => "#" + proposal.id === location.hash);
if (proposals.length) move(Math.max(linked, 0));
