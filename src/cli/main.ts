#!/usr/bin/env node
/** The command line. The package has it in one file, which `answer-or-start.ts` starts in the place of this one. */
import { runWorkcell } from './run-workcell.js';

void runWorkcell();
