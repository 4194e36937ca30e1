import { documentsSource } from './python/documents.js';
import { editorSource } from './python/editor.js';
import { searchSource } from './python/search.js';
import { windowSource } from './python/window.js';

const functions = [windowSource, searchSource, documentsSource, editorSource].join('\n').trimStart();

/** The module `agentskills`. It needs nothing but Python; what a document needs besides is loaded when one is read. */
export const skillsModule = `${functions}

__all__ = [name for name, value in globals().items()
           if getattr(value, '__module__', None) == __name__ and not name.startswith('_')]
`;

/** The same functions as a module of tools: they return their text instead of printing it. */
export const skillsToolModule = `${functions}

_returns_text = True
`;
