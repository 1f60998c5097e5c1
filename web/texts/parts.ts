/** What tables, forms, dialogs and messages say whatever they are about. */

export const partTexts = {
  loading: 'Loading …',
  retry: 'Try again now',
  cannotRefresh: (why: string) => `This could not be read again: ${why}`,
  asOf: 'What you see is from',
  signInEnded: 'Your sign-in has ended.',
  signInAgain: 'Sign in again in another tab, then try once more',
  ago: (age: string) => `${age} ago`,
  justNow: 'just now',
  never: 'never',
  unknown: '–',
  emptyWith: 'Looked for:',
  list: {
    selectAll: 'Select all shown',
    select: (what: string) => `Select ${what}`,
    selected: (count: number, shown: number) =>
      count === 0 ? 'None selected' : count === shown ? `All ${shown} shown selected` : `${count} of ${shown} selected`,
    withCount: (action: string, count: number) => (count === 0 ? action : `${action} (${count})`),
  },
  filters: {
    label: 'Filters',
    any: 'Any',
    yes: 'Yes',
    no: 'No',
    manufacturer: 'Manufacturer',
    clear: 'Clear filters',
  },
  pager: {
    label: 'Pages of this list',
    range: (from: number, to: number, count: number) => `${from}–${to} of ${count}`,
    previous: 'Previous',
    next: 'Next',
  },
  form: {
    sending: 'Sending …',
    field: (name: string, says: string) => `${name}: ${says}`,
    wait: (seconds: number) => `Try again in ${waitOf(seconds)}.`,
    showPassword: 'Show',
    optional: 'optional',
  },
  dialog: { cancel: 'Cancel', close: 'Close' },
  copy: { copy: 'Copy', done: 'Copied.', byHand: 'This browser does not let it be copied: press Ctrl+C.' },
  messages: { label: 'Messages', dismiss: 'Dismiss', undo: 'Undo' },
  outcome: {
    failed: (count: number) => (count === 1 ? '1 could not be done:' : `${count} could not be done:`),
  },
} as const

function waitOf(seconds: number): string {
  if (seconds < 90) return `${seconds} seconds`
  return `${Math.ceil(seconds / 60)} minutes`
}
