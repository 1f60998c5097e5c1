/** The real-time connections. */

import type { ConnectionStatus, Transport } from '../../src/model/connection.ts'

const connections = (count: number) => (count === 1 ? '1 connection' : `${count} connections`)

const statuses: Record<ConnectionStatus, string> = {
  connected: 'Connected',
  connecting: 'Connecting',
  disconnected: 'Disconnected',
  error: 'Error',
  stopped: 'Stopped',
}

/** What the state means for whoever looks at it. */
const means: Record<ConnectionStatus, string> = {
  connected: 'Changes arrive as they happen.',
  connecting: 'A try is under way.',
  disconnected: 'The link was lost or has ended. Micwatch connects again by itself.',
  error: 'The last try failed. Micwatch tries again by itself.',
  stopped: 'Stopped on purpose: it is polled, and never connects by itself, also after a restart, until it is started.',
}

const transports: Record<Transport, string> = {
  websocket: 'WebSocket',
  sse: 'Event stream',
  tcp: 'TCP session',
  udp: 'UDP session',
}

export const connectionTexts = {
  title: 'Real-time connections',
  intro:
    'Receivers whose changes arrive by themselves, between the polls. Micwatch takes a lost link up again by itself, ' +
    'after 1 s at first and 30 s at most.',
  list: 'Real-time connections',
  down: (count: number) => (count === 0 ? 'No connection is down.' : `${connections(count)} down.`),
  legend: 'What the states mean',
  statuses,
  means,
  transports,
  filters: { status: 'Status' },
  none: 'No real-time connection yet',
  noneNext:
    'Each receiver gets one as soon as its system has been polled. Systems that offer no such link are polled only.',
  noMatch: 'No connection fits',
  unnamed: 'Unnamed receiver',
  columns: {
    receiver: 'Receiver',
    status: 'Status',
    since: 'Since',
    message: 'Last message',
    duration: 'Duration',
    errors: 'Errors',
    attempts: 'Tries since',
    error: 'Last error',
  },
  name: (id: number, receiver: string) => `connection ${id} of ${receiver}`,
  stop: {
    text: 'Stop',
    question: (count: number) => `Stop ${connections(count)}?`,
    follows:
      'They stay stopped, also after a restart, until somebody starts them. The receivers are still polled: their values ' +
      'come at the polling interval instead of at once.',
  },
  start: {
    text: 'Start',
    question: (count: number) => `Start ${connections(count)}?`,
    follows: 'They connect at once, and again by themselves whenever they are lost.',
  },
} as const
