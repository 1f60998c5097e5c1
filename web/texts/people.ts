/** People, and what they may do. */

export const peopleTexts = {
  title: 'People',
  intro:
    'Who may sign in. A viewer looks; an operator also refreshes, scans, arranges, assigns and acknowledges; an ' +
    'administrator does everything.',
  list: 'People',
  none: 'Nobody has an account',
  columns: { name: 'User name', role: 'Role', state: 'May sign in', lastLogin: 'Last signed in', actions: 'Actions' },
  you: 'you',
  active: 'Yes',
  inactive: 'No',
  add: 'Add a person',
  addAction: 'Add',
  added: (name: string) => `${name} may sign in now. Hand over the password, and ask for it to be changed.`,
  username: 'User name',
  usernameHint: 'Letters, digits and . _ @ -; beginning with a letter or digit.',
  role: 'Role',
  password: 'Password',
  newPassword: 'New password',
  passwordHint: 'At least 12 characters; several words that have nothing in common are best.',
  isActive: 'May sign in',
  change: 'Change',
  changeTitle: (name: string) => `Change ${name}`,
  changeHint: 'Another role, or a shut account, ends every session of this person at once.',
  changed: (name: string) => `${name} is changed.`,
  save: 'Save',
  reset: 'New password',
  resetTitle: (name: string) => `A new password for ${name}`,
  resetAction: 'Set the password',
  resetFollows: 'Every session of this person ends at once.',
  resetDone: (name: string) => `${name} has a new password.`,
  remove: 'Remove',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeFollows:
    'The account is gone and its sessions end at once. What this person did stays in the audit log, and so do the ' +
    'tokens made: revoke those on their own page.',
  removed: (name: string) => `${name} is removed.`,
  lastAdmin: 'The only active administrator stays: make another one first.',
} as const
