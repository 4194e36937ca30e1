import { useState } from 'react';
import type { WorkcellEvent } from '../../../src/protocol/events.js';
import type { RecordPage } from '../../../src/protocol/record-wire.js';
import { ask, reasonOf } from '../api.js';
import { asciicast, htmlPage } from '../exports.js';
import { saveAs } from './files-pane.js';

const forms = {
  'JSON lines': {
    ending: 'jsonl',
    make: (events: WorkcellEvent[]) => events.map((event) => `${JSON.stringify(event)}\n`),
  },
  'Terminal recording (asciicast)': {
    ending: 'cast',
    make: (events: WorkcellEvent[]) => [asciicast(events)],
  },
  'Page that opens without a server (HTML)': {
    ending: 'html',
    make: (events: WorkcellEvent[], id: string) => [htmlPage(id, events)],
  },
} as const;

/** The whole record as a file. */
export function ExportMenu({ id }: { id: string }) {
  const [word, setWord] = useState('Export');
  const save = async (form: keyof typeof forms) => {
    setWord('Reading…');
    try {
      const { ending, make } = forms[form];
      saveAs(new Blob(make(await wholeRecord(id), id)), `${id}.${ending}`);
      setWord('Export');
    } catch (error) {
      setWord(reasonOf(error));
    }
  };
  return (
    <select
      className="menu"
      aria-label="Export the record"
      value=""
      onChange={(event) => void save(event.target.value as keyof typeof forms)}
    >
      <option value="" disabled>
        {word}
      </option>
      {Object.keys(forms).map((form) => (
        <option key={form}>{form}</option>
      ))}
    </select>
  );
}

async function wholeRecord(id: string): Promise<WorkcellEvent[]> {
  const events: WorkcellEvent[] = [];
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: RecordPage = await ask(`/v1/records/${encodeURIComponent(id)}?after=${after}&limit=1000`);
    events.push(...page.events);
    after = page.next;
  }
  return events;
}
