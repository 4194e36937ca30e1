/** The browser of one cell: it starts at first use, does one action at a time, and pauses between them. */
import { type Action, WorkcellError } from '../../../protocol/index.js';
import type { PluginCell } from '../plugin.js';
import { thisProcess } from '../this-process.js';
import { reasonOf, Turns, Unresponsive, within } from './bounds.js';
import type { PageObservation } from './browser-actions.js';
import type { BrowserOptions } from './browser-options.js';
import { parseSteps } from './language.js';
import { drawMarks } from './observe/marks.js';
import { observePage, type PageState, takePicture } from './observe-page.js';
import { note, shortUrl } from './page-events.js';
import { perform } from './page-steps.js';
import { Running } from './running.js';
import type { Step } from './steps.js';
import type { Tab } from './tab.js';

/** How long looking at a page and taking its picture may take. */
const lookMs = 20_000;
/** What a step may take beyond the loading of a page: finding and waiting for elements. */
const stepMs = 15_000;

type Settings = Pick<Action<'browse'>, 'timeoutMs' | 'screenshot' | 'marks'>;

export class BrowserSession {
  readonly #cell: PluginCell;
  readonly #options: BrowserOptions;
  readonly #turns = new Turns();
  #running: Promise<Running> | undefined;
  #parking: NodeJS.Timeout | undefined;
  #parked = false;
  #closed = false;

  constructor(cell: PluginCell, options: BrowserOptions) {
    this.#cell = cell;
    this.#options = options;
  }

  browse({ url, ...settings }: Action<'browse'>, signal?: AbortSignal): Promise<PageObservation> {
    const step: Step = { do: 'goto', url };
    return this.#turns.take(() => this.#act([step], `goto(${JSON.stringify(url)})`, settings, signal));
  }

  async interact(
    { code, steps, ...settings }: Action<'browse_interactive'>,
    signal?: AbortSignal,
  ): Promise<PageObservation> {
    if ((code === undefined) === (steps === undefined))
      throw new WorkcellError('invalid-action', 'Give either "code" or "steps" to browse_interactive.');
    const wanted = steps ?? parseSteps(code ?? '');
    const told = code ?? wanted.map((step) => JSON.stringify(step)).join('\n');
    return this.#turns.take(() => this.#act(wanted, told, settings, signal));
  }

  /** From then on pages continue between actions, because another client may work in them. */
  openCdp(tokenHash: string): Promise<{ port: number; process: string }> {
    return this.#turns.take(async () => {
      const running = await this.#start();
      await this.#wake(running);
      return { port: await running.openCdp(tokenHash), process: thisProcess };
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#parking);
    const running = await this.#running?.catch(() => undefined);
    await running?.close();
  }

  async #act(
    steps: readonly Step[],
    told: string,
    settings: Settings,
    signal: AbortSignal | undefined,
  ): Promise<PageObservation> {
    if (signal?.aborted) throw new WorkcellError('cancelled', 'The action was cancelled before it began.');
    const running = await this.#start();
    try {
      await this.#wake(running);
      running.events.take();
      const error = await this.#perform(running, steps, settings, signal);
      return await this.#observe(running, { ...settings, error, told, signal });
    } finally {
      this.#park(running);
    }
  }

  /** Returns why a step failed, and skips the steps behind it. */
  async #perform(
    running: Running,
    steps: readonly Step[],
    { timeoutMs }: Settings,
    signal: AbortSignal | undefined,
  ): Promise<string | null> {
    for (const step of steps) {
      let tab: Tab | undefined;
      try {
        tab = await running.active();
        const work = tab.whileAlive(perform(step, { running, tab, timeoutMs, signal }));
        const waits = step.do === 'noop' ? step.wait_ms : 0;
        await within(work, { ms: timeoutMs + stepMs + waits, what: `The step ${step.do}`, signal });
        await running.settlePopups(signal);
        tab = await running.active();
        await tab.settle(timeoutMs, signal);
      } catch (error) {
        if (WorkcellError.isInstance(error) && error.code === 'cancelled') {
          await tab?.stopLoading();
          throw error;
        }
        if (error instanceof Unresponsive) tab?.giveUp(error.message);
        return running.ended ?? tab?.broken ?? reasonOf(error);
      }
    }
    return running.ended ?? null;
  }

  async #observe(
    running: Running,
    {
      error,
      told,
      timeoutMs,
      screenshot,
      marks,
      signal,
    }: Settings & {
      error: string | null;
      told: string;
      signal: AbortSignal | undefined;
    },
  ): Promise<PageObservation> {
    const wanted = { viewport: this.#options.viewport, ms: lookMs, signal };
    const lastAction = told.slice(0, 8000);
    const empty: PageState = { text: '', tree: '', truncated: false, focused: null, elements: [] };
    const nothing = {
      url: '',
      title: '',
      loading: false,
      pages: [],
      screenshot: null,
      marked: null,
      lastAction,
    };
    if (running.ended !== undefined)
      return { ...nothing, ...empty, ...running.events.take(), error: error ?? running.ended };
    let tab: Tab | undefined;
    try {
      await running.settleDownloads(timeoutMs, signal);
      tab = await running.active();
      // A page that failed may be stuck. Asking it shows that sooner than waiting for an observation.
      if (error !== null && !(await tab.responds())) throw new Error(error);
      const [look, picture, pages] = await tab.whileAlive(
        Promise.all([
          observePage(tab, wanted),
          screenshot || marks ? takePicture(tab, wanted) : undefined,
          running.pages(),
        ]),
      );
      const marked =
        marks && picture !== undefined
          ? await drawMarks(tab, picture, look.elements, wanted).catch(unlessCancelled)
          : undefined;
      const [picturePath, markedPath] = await Promise.all([
        picture === undefined ? null : running.files.keepPicture('screenshot', picture),
        marked === undefined ? null : running.files.keepPicture('marked', marked),
      ]);
      return {
        url: shortUrl(tab.page.url()),
        title: pages.find((page) => page.active)?.title ?? '',
        ...look,
        loading: tab.loading,
        pages,
        lastAction,
        error,
        screenshot: picture === undefined ? null : image(picture, picturePath),
        marked: marked === undefined ? null : image(marked, markedPath),
        ...running.events.take(),
      };
    } catch (failure) {
      if (WorkcellError.isInstance(failure) && failure.code === 'cancelled') throw failure;
      tab?.giveUp(`${reasonOf(failure)} The page does not respond, so it is closed at the next action.`);
      return {
        ...nothing,
        ...empty,
        url: shortUrl(tab?.page.url() ?? ''),
        ...running.events.take(),
        error: note(running.ended ?? tab?.broken ?? reasonOf(failure)),
      };
    }
  }

  async #start(): Promise<Running> {
    if (this.#closed) throw new WorkcellError('runtime-closed', 'The cell is closed; start a new one.');
    const known = await this.#running;
    if (known !== undefined && known.ended === undefined) return known;
    await known?.close();
    this.#running = Running.start(this.#cell, this.#options);
    try {
      return await this.#running;
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  async #wake(running: Running): Promise<void> {
    clearTimeout(this.#parking);
    if (this.#parked) await running.hold(false);
    this.#parked = false;
  }

  #park(running: Running): void {
    this.#parking = setTimeout(() => {
      void this.#turns.take(async () => {
        if (running.ended !== undefined || running.shared || this.#closed) return;
        this.#parked = true;
        await running.hold(true);
      });
    }, this.#options.parkAfterMs);
    this.#parking.unref();
  }
}

/** A page that we cannot draw on is otherwise fine. */
function unlessCancelled(error: unknown): undefined {
  if (WorkcellError.isInstance(error) && error.code === 'cancelled') throw error;
}

function image(data: string, path: string | null) {
  return { mediaType: 'image/png' as const, data, path };
}
