import './no-eval.js';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { takeKey } from './session.js';
import './style.css';

takeKey();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
