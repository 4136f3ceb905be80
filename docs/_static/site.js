// Reports and live models say how high they are; their frames follow, so that nothing in a page has scroll bars.
addEventListener("message", ({ data, source }) => {
  if (!data || data.sender !== "phlexible") return;
  for (const frame of document.querySelectorAll("iframe.report")) {
    if (frame.contentWindow === source) frame.style.height = `${Number(data.height) + 2}px`; // two for its border
  }
});
