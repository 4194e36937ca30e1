#!/usr/bin/env node
/** The command line. The package has it in one file, which `start-compiled.ts` starts in the place of this one. */
import { runWorkcell } from './run-workcell.js';

void runWorkcell();
