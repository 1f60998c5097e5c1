/**
 * Properties of a field that has the focus when it is shown. A dialog focuses the field with the attribute when it opens;
 * elsewhere, Preact only sets the attribute.
 */
export const focused = { autoFocus: true, ref: (element: HTMLElement | null) => element?.focus() } as const
