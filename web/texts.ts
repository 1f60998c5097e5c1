/** Every word on the pages, so that another language is another file of this shape. */

import type { Problem } from './api.ts'
import type { ChannelState, Mark } from './channel-state.ts'

const states: Record<ChannelState | Mark, string> = {
  good: 'Good',
  on: 'On',
  replace: 'Replace',
  low: 'Low',
  critical: 'Critical',
  rf_weak: 'RF weak',
  rf_fair: 'RF fair',
  clipping: 'Clipping',
  muted: 'Muted',
  encryption: 'Key error',
  interference: 'Interference',
  off: 'Off',
  off_recently: 'Just off',
  receiver_lost: 'RX lost',
  stale: 'Old',
}

const marks: Record<Mark, string> = {
  replace: 'Battery: replace soon',
  low: 'Battery low',
  critical: 'Battery critical',
  rf_weak: 'RF weak',
  rf_fair: 'RF only fair',
  clipping: 'Audio clipping',
  muted: 'Muted',
  encryption: 'Encryption keys do not match',
  interference: 'Interference',
  off: 'No transmitter heard',
  off_recently: 'Transmitter gone',
  receiver_lost: 'Receiver not answering',
}

const problems: Record<Problem['kind'], { readonly title: string; readonly next: string }> = {
  unreachable: {
    title: 'Micwatch cannot be reached',
    next: 'Is the service running, and this device on its network? This page keeps trying by itself.',
  },
  sign_in: {
    title: 'Sign-in needed',
    next:
      'This Micwatch shows its microphones to signed-in people only. Open it on the machine it runs on, ' +
      'or ask whoever set it up for access (public_read opens reading to the local network).',
  },
  not_allowed: {
    title: 'Not for this account',
    next: 'Ask whoever set Micwatch up for the role that may, or sign in as somebody else.',
  },
  refused: {
    title: 'Micwatch refused',
    next: 'The service runs but could not answer. Its log says more. This page keeps trying by itself.',
  },
  not_understood: {
    title: 'An answer that makes no sense',
    next: 'Something other than Micwatch may be answering at this address. This page keeps trying by itself.',
  },
}

export const texts = {
  product: 'Micwatch',
  tagline: 'Every wireless microphone in the building, live.',
  states,
  marks,
  problems,
  nav: { label: 'Pages', dashboard: 'Microphones', wall: 'Wall', about: 'About' },
  summary: {
    label: 'Summary',
    channels: (count: number) => `${count} ${count === 1 ? 'channel' : 'channels'}`,
    needHand: (count: number) => `${count} ${count === 1 ? 'needs' : 'need'} a hand`,
    allWell: 'None needs a hand',
    replace: (count: number) => `${count} to replace`,
    notLive: 'Not live for',
  },
  filters: { all: 'All manufacturers' },
  card: {
    list: 'Channels',
    planned: 'Planned',
    open: (name: string, slot: number) => `${name}, position ${slot}: everything about it`,
    noName: 'No name',
    rf: 'RF',
    audio: 'AF',
    rfLong: 'RF level',
    audioLong: 'Audio level',
    dbm: (level: string) => `${level} dBm`,
    dbfs: (level: string) => `${level} dBFS`,
    none: '–',
    frequency: (mhz: string) => `${mhz} MHz`,
    noFrequency: '– MHz',
    position: (receiver: string, channel: number) => `${receiver}, channel ${channel}`,
    slot: (slot: number) => `Slot ${slot}`,
    battery: (percent: number) => `Battery ${percent} percent`,
    lastBattery: (percent: number) => `Battery last known ${percent} percent`,
    noBattery: 'Battery unknown',
    percent: (percent: number) => `${percent} %`,
    percentUnknown: '?',
    overload: 'OL',
    clearOverload: (time: string) => `Overload at ${time}. Press to clear.`,
    lost: 'No answer',
    lastSeen: 'last seen',
    ago: 'ago',
  },
  link: {
    connecting: 'Connecting …',
    open: 'Live',
    lost: 'Connection lost',
    reading: 'Read every few seconds',
  },
  banner: {
    lost: 'Connection lost.',
    reconnecting: 'Connected again, reading the full picture …',
    silent: 'Nothing heard from the service.',
    old: { before: 'What you see is ', after: (time: string) => ` old, as of ${time}.` },
    retrying: (seconds: number) => (seconds > 0 ? `Next try in ${seconds} s.` : 'Trying now …'),
    upstream: (codes: string) => `${codes} does not answer Micwatch. Its values are old until it does.`,
  },
  health: {
    label: 'Health',
    service: 'Service',
    statuses: {
      healthy: 'Healthy',
      degraded: 'Degraded',
      unhealthy: 'Not answering',
      disabled: 'Switched off',
      unconfigured: 'Not configured',
    },
    unknown: 'Health not known yet',
    lastKnown: (status: string) => `was ${status.toLowerCase()}`,
    noManufacturers: 'No manufacturer configured',
  },
  loading: { title: 'Reading the full picture …' },
  failed: { retry: 'Try again now' },
  empty: {
    title: 'Nothing to watch yet',
    demo: 'To see Micwatch at work without any hardware, start it with simulated systems:',
    demoCommand: 'micwatch serve --demo',
    configure: 'To watch your own, name your systems in the manufacturers section of micwatch.yaml and start it again:',
    configuration: `manufacturers:
  - code: shure
    name: Shure
    config:
      api_base_url: https://192.168.1.20:10000
      shared_key: "\${SHURE_KEY}"`,
    waitingTitle: 'Configured, but no receiver found yet',
    waiting: (names: string) =>
      `Micwatch asks ${names} and has not been told of a receiver. The line at the bottom says how each one fares.`,
    filtered: (code: string) => `Micwatch knows no receiver of ${code}.`,
    showAll: 'Show all manufacturers',
    nothingFound: 'Nothing found',
    search: (q: string) => `“${q}”`,
    inGroup: (title: string) => `in ${title}`,
    lookedFor: (what: string) => `No channel fits: ${what}.`,
    groupTitle: (title: string) => `${title} has no positions yet`,
    groupNext: 'Arrange, on the desk, puts channels into a group.',
    showEverything: 'Show everything',
  },
  about: {
    title: 'About Micwatch',
    what:
      'Micwatch watches every wireless microphone in a building: receivers, channels and transmitters of many ' +
      'manufacturers on one page, live. It runs on your own machine and talks to your own network only.',
    version: 'Version',
    licence: 'Licence',
    mit: 'MIT',
    interface: 'For scripts and other programs',
    paths: [
      { path: '/api/data.json', says: 'everything at once: receivers, channels, groups, settings' },
      { path: '/api/receivers/', says: 'the receivers' },
      { path: '/api/health/', says: 'how the service and each manufacturer fare' },
      { path: '/api/config/', says: 'the settings in force' },
      { path: '/api/groups/', says: 'the groups' },
      { path: '/api/alerts/', says: 'what was raised, and what cleared' },
      { path: '/healthz', says: 'whether the process is alive, for supervisors' },
    ],
    socket: (url: string) => `Changes as they happen: WebSocket at ${url}`,
  },
  brokenPage: {
    title: 'This page did not load',
    why: 'A part of it could not be fetched: the service is not reachable, or was replaced by a newer one.',
    retry: 'Load it again',
  },
  unknownPage: { title: 'There is no such page', home: 'Back to the microphones' },
} as const
