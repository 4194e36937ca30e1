import { programText } from '../../../base/program-text.js';

/** The files that make up the module, in the order in which they need each other. */
const parts = ['file_window.py', 'search_files.py', 'read_documents.py', 'read_media.py', 'edit_file.py'];

/** The functions that ask a model. */
export const mediaSkills: readonly string[] = ['parse_image', 'parse_audio', 'parse_video'];

/**
 * The module `agentskills`. It needs nothing but Python; reading a document loads what that document needs besides.
 */
export function skillsModule(): string {
  return `${functions()}

__all__ = [name for name, value in globals().items()
           if getattr(value, '__module__', None) == __name__ and not name.startswith('_')]
`;
}

/** The same functions as a module of tools: they return their text instead of printing it. */
export function skillsToolModule(): string {
  return `${functions()}

_returns_text = True
`;
}

function functions(): string {
  return parts.map((name) => programText(name, import.meta.url)).join('\n\n');
}
