// SPDX-License-Identifier: Apache-2.0
// Browsers start no worker from file://, but they load a script into a frame. This is a Worker that
// does so, with what the theme's search needs: messages both ways, and scripts in the order named.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      window.addEventListener("message", (event) => {
        if (event.source === inside)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
      const page = frame.contentDocument;
      page.open();
      page.write("<!doctype html><title>worker</title><body></body>");
      page.close();
      // The worker answers by postMessage(), which in a frame would be a message to itself.
      inside.postMessage = (data) => {
        const event = new inside.parent.MessageEvent("message", { data, source: inside });
        inside.parent.dispatchEvent(event);
      };
      inside.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => load(page, one)), Promise.resolve());
      this.inside = inside;
      this.ready = load(page, url);
    }

    postMessage(data) {
      this.ready.then(() => {
        const event = new this.inside.MessageEvent("message", { data: structuredClone(data) });
        this.inside.dispatchEvent(event);
      });
    }
  };
}

function load(page, url) {
  return new Promise((resolve, reject) => {
    const script = page.createElement("script");
    script.src = url;
    script.onload = resolve;
    script.onerror = reject;
    page.body.appendChild(script);
  });
}
