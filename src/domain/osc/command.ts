import type { ReceivedMessage } from './packet.ts'

export type OscCommand = { readonly type: 'subscribe'; readonly isOn: boolean } | OscAction

/** Commands that change something. */
export type OscAction =
  | { readonly type: 'marker'; readonly text: string }
  /** `show` is an id or a title; null if only one show is possible. */
  | { readonly type: 'start_show' | 'end_show'; readonly show: string | null }
  | { readonly type: 'acknowledge'; readonly alert: number }

const maxMarkerCharacters = 500

/** Returns `unknown` for other addresses, and `malformed` for invalid arguments. */
export function parseCommand({ address, args }: ReceivedMessage): OscCommand | 'unknown' | 'malformed' {
  const [argument = null] = args
  if (address === '/micwatch/subscribe') return { type: 'subscribe', isOn: !isRelease(args) }
  if (address === '/micwatch/marker') return parseMarker(argument)
  if (address === '/micwatch/show/start') return { type: 'start_show', show: toShow(argument) }
  if (address === '/micwatch/show/end') return { type: 'end_show', show: toShow(argument) }
  const alert = /^\/micwatch\/alert\/(\d{1,15})\/ack$/.exec(address)?.[1]
  if (alert === undefined) return 'unknown'
  return isRelease(args) ? 'unknown' : { type: 'acknowledge', alert: Number(alert) }
}

/** Buttons of controllers send 1 when pressed and 0 when released. */
function isRelease([first]: ReceivedMessage['args']): boolean {
  return first === 0 || first === false
}

function parseMarker(argument: ReceivedMessage['args'][number]): OscCommand | 'malformed' {
  if (typeof argument !== 'string') return 'malformed'
  const text = argument.replace(/\p{Control}+/gu, ' ').trim()
  if (text === '') return 'malformed'
  return { type: 'marker', text: Array.from(text).slice(0, maxMarkerCharacters).join('') }
}

function toShow(argument: ReceivedMessage['args'][number]): string | null {
  if (typeof argument === 'number') return String(argument)
  return typeof argument === 'string' && argument.trim() !== '' ? argument : null
}
