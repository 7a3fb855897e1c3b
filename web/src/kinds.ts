// The kinds of schemes.

export const KINDS = ["marking", "echo", "response"] as const;
export type Kind = (typeof KINDS)[number];
