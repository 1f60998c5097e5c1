/** The movement log. */

const movements = (count: number) => (count === 1 ? '1 movement' : `${count} movements`)

export const movementTexts = {
  title: 'Movements',
  intro:
    'Receivers that were found at another address, or put into another place. Each stays here until somebody has taken ' +
    'note of it.',
  list: 'Movements',
  filters: { acknowledged: 'Acknowledged' },
  unacknowledged: (count: number) => `${movements(count)} not acknowledged`,
  none: 'No movement waits for you',
  noneNext: 'A receiver that a poll finds at another address appears here by itself.',
  noMatch: 'No movement fits',
  columns: {
    device: 'Receiver',
    change: 'Before → after',
    times: 'Times seen',
    detected: 'Detected',
    reason: 'Reason',
    acknowledged: 'Acknowledged',
  },
  address: 'Address',
  place: 'Place',
  nowhere: 'nowhere',
  became: 'now',
  detectedBy: { sync: 'by a poll', manual: 'by hand' },
  by: (name: string) => `by ${name}`,
  notYet: 'Not yet',
  name: (id: number, device: string) => `movement ${id} of ${device}`,
  acknowledge: {
    text: 'Acknowledge',
    question: (count: number) => `Acknowledge ${movements(count)}?`,
    follows: 'They leave this list and stay in the log with your name. A movement seen again is listed anew.',
  },
  acknowledgeAll: { text: 'Acknowledge all shown' },
} as const
