/** A worker thread that plays the seconds of the demo's day, so that live pages are not delayed. */

import { parentPort } from 'node:worker_threads'
import type { PlayRequest, PlayResponse } from './demo-day.ts'
import { findWeakSpans, type PlayedChannel, playSeconds } from './show/day-levels.ts'

const port = parentPort
if (port === null) throw new Error('This file runs in a worker thread only.')

const groups = new Map<number, readonly PlayedChannel[]>()

port.on('message', ({ group, channels, startedAt, range }: PlayRequest) => {
  if (channels !== undefined) groups.set(group, channels)
  const played = groups.get(group) ?? []
  const seconds = playSeconds(played, startedAt, range)
  const response: PlayResponse = { seconds, dropouts: findWeakSpans(played, startedAt, range) }
  port.postMessage(
    response,
    Object.values(seconds.columns).map(({ buffer }) => buffer as ArrayBuffer),
  )
})
