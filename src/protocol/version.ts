/** Version of the actions, observations and progress messages. Both ends of a wire must agree on the number. */
export const protocolVersion = 1;
