/**
 * Spans for OpenTelemetry, and its trace context in requests. Nothing is loaded: programs that trace register their
 * provider under a symbol of this process, where every copy of `@opentelemetry/api` 1.x looks for it, and so do we.
 * Without one, all of this does nothing. Spans never hold what people write: no commands, paths, queries or bodies.
 */

type Attributes = Readonly<Record<string, string | number>>;
type Carrier = Record<string, unknown>;

/** As the API names them. */
const kinds = { internal: 0, server: 1, client: 2 } as const;
const failed = 2;

/** What follows is what we use of the API's interfaces. */
interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
}

interface ApiSpan {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

interface Registry {
  readonly trace?: {
    getTracer(name: string): {
      startSpan(name: string, options: { kind: number; attributes: Attributes }, context: Context): ApiSpan;
    };
  };
  readonly context?: {
    active(): Context;
    with<Result>(context: Context, work: () => Result): Result;
  };
  readonly propagation?: {
    inject(context: Context, carrier: Carrier, setter: object): void;
    extract(context: Context, carrier: Carrier, getter: object): Context;
  };
}

const registrySymbol = Symbol.for('opentelemetry.js.api.1');
/** Where a context holds its span. */
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN');

function registry(): (Required<Pick<Registry, 'trace' | 'context'>> & Registry) | undefined {
  const { trace, context, propagation } =
    (globalThis as { [registrySymbol]?: Registry })[registrySymbol] ?? ({} as Registry);
  if (trace === undefined || context === undefined) return undefined;
  return { trace, context, ...(propagation !== undefined && { propagation }) };
}

/** A piece of work that has begun. */
export interface Span {
  /** Calls it with this span as the one that others belong to. */
  within<Result>(work: () => Result): Result;
  note(attributes: Attributes): void;
  /** `error`: the code of a failure. */
  end(error?: string): void;
}

interface SpanOptions {
  readonly kind?: keyof typeof kinds;
  readonly attributes?: Attributes;
  /** Headers of a request: the span continues the trace that they name, unless it is in a span already. */
  readonly headers?: Carrier;
}

/** Undefined where nothing traces. */
export function beginSpan(
  name: string,
  { kind = 'internal', attributes = {}, headers }: SpanOptions = {},
): Span | undefined {
  const api = registry();
  if (api === undefined) return undefined;
  const active = api.context.active();
  const isInSpan = active.getValue(spanKey) !== undefined;
  const parent =
    headers === undefined || isInSpan
      ? active
      : (api.propagation?.extract(active, headers, getter) ?? active);
  const span = api.trace.getTracer('workcell').startSpan(name, { kind: kinds[kind], attributes }, parent);
  const context = parent.setValue(spanKey, span);
  let isOver = false;
  return {
    within: (work) => api.context.with(context, work),
    note: (added) => void span.setAttributes(added),
    end(error) {
      if (isOver) return;
      isOver = true;
      if (error !== undefined) {
        span.setAttributes({ 'error.type': error });
        span.setStatus({ code: failed, message: error });
      }
      span.end();
    },
  };
}

/** Does it in a span of its own. Where nothing traces it costs a look at one symbol. */
export function traced<Result>(
  name: string,
  options: () => SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  if (registry() === undefined) return work();
  const span = beginSpan(name, options());
  if (span === undefined) return work();
  return span.within(work).then(
    (result) => {
      span.end();
      return result;
    },
    (error: unknown) => {
      span.end(codeOf(error));
      throw error;
    },
  );
}

/** What a request may carry. Baggage stays here: it has values of the program's own, and cells read these headers. */
const sent = new Set(['traceparent', 'tracestate']);

/** What a request carries so that the other side continues this trace. */
export function traceHeaders(): Record<string, string> {
  const api = registry();
  const headers: Record<string, string> = {};
  api?.propagation?.inject(api.context.active(), headers, setter);
  return headers;
}

const setter = {
  set: (carrier: Carrier, name: string, value: string) => {
    if (sent.has(name.toLowerCase())) carrier[name] = value;
  },
};

const getter = {
  get: (carrier: Carrier, name: string) => carrier[name.toLowerCase()],
  keys: (carrier: Carrier) => Object.keys(carrier),
};

/** Messages may hold what somebody wrote. */
function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'internal';
}
