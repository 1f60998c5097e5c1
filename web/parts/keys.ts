/** True if a key belongs to a field, an open dialog, the browser or another handler. */
export function isKeyForAnother({ defaultPrevented, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (defaultPrevented || ctrlKey || metaKey || altKey) return true
  if (document.querySelector('dialog[open]') !== null) return true
  return target instanceof Element && target.closest('input, select, textarea, [contenteditable]') !== null
}
