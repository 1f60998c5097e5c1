/** The ways in: sign-in, set-up, kiosk, and one's own account. */

export const accessTexts = {
  signIn: {
    title: 'Sign in',
    username: 'User name',
    password: 'Password',
    action: 'Sign in',
    afterwards: 'Then on to',
    forgottenTitle: 'Password forgotten?',
    forgotten: 'Whoever has the machine can set a new password there:',
    resetCommand: 'micwatch create_admin --username … --reset',
    setUpFirst: 'Nobody can sign in yet:',
    setUpLink: 'make the first administrator',
  },
  setUp: {
    title: 'Set up Micwatch',
    intro: 'Make the first administrator. There is no default password.',
    username: 'User name',
    usernameHint: '1 to 64 letters, digits, . _ @ and -',
    password: 'Password',
    passwordHint:
      'At least 12 characters. Several words that have nothing in common are easy to keep and hard to guess.',
    code: 'Set-up code',
    codeHint:
      'Stands on the console Micwatch was started from, and in the file setup-code in its data folder. Good for an ' +
      'hour after the start.',
    action: 'Make the administrator',
    done: 'This Micwatch has an administrator already.',
    signIn: 'Sign in',
  },
  account: {
    title: 'Your account',
    signedInAs: 'Signed in as',
    role: 'Role',
    lastLogin: 'Signed in',
    noUser: 'This page belongs to no person: it was opened with a token, and has no password.',
    change: 'Change the password',
    current: 'Present password',
    next: 'New password',
    action: 'Change the password',
    changed: 'The password is changed. Everywhere else you have been signed out.',
  },
  kiosk: {
    title: 'Opening this screen …',
    noToken: 'This link holds no token',
    noTokenNext: 'Copy it whole, with everything after the # sign, from the page of tokens.',
    refused: 'This screen may not look',
    refusedNext: 'Make a new kiosk link on the page of tokens, and open it here.',
    waiting: 'This screen tries again by itself, every few seconds.',
    signedIn: (name: string) => `You are signed in as ${name}`,
    signedInNext: 'As a screen this browser may do nothing but look, and you are signed out here.',
    asScreen: 'Make it a screen',
    asMyself: 'Go on as myself',
  },
} as const
