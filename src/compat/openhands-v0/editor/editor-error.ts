/** An editor command that cannot be carried out; its message is for the agent. */
export class EditorError extends Error {}
