/* Browsers refuse workers to pages that come from the disk. There the search runs in a hidden frame instead, behind the
   same interface. */
if (location.protocol === "file:") {
  globalThis.Worker = class extends EventTarget {
    #frame = Object.assign(document.createElement("iframe"), { hidden: true });
    #loaded;

    constructor(address) {
      super();
      this.#loaded = new Promise((loaded) => this.#frame.addEventListener("load", loaded, { once: true }));
      this.#frame.srcdoc = "<!DOCTYPE html><script></script>"; // of the same origin as this page
      document.documentElement.append(this.#frame);
      this.#loaded = this.#loaded.then(() => this.#run(address));
    }

    /** Loads the script of the worker, whose messages become events here. */
    #run(address) {
      const inside = this.#frame.contentWindow;
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      return new Promise((loaded) => {
        const script = inside.document.createElement("script");
        script.src = address;
        script.addEventListener("load", loaded);
        inside.document.head.append(script);
      });
    }

    postMessage(data) {
      const send = () => this.#frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      this.#loaded.then(send);
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
