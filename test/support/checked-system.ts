/** A simulated system for line checks, and how a test reads them. */

import { expect } from 'vitest'
import type { ChannelCheckBody } from '../../src/contract/checks.ts'
import { configFor, deviceOf, startShure, type TestApp, until } from './app.ts'

/** Starts a system with one receiver of two channels, both with a transmitter. */
export async function startCheckedSystem() {
  const shure = await startShure({ receivers: 1 })
  const { id } = deviceOf(shure)
  const set = (change: Parameters<typeof shure.show.set>[1]) => {
    shure.show.set(id, change, 1)
    shure.push.flush()
  }
  set({ battery: 80, rf_level: -50, audio_level: -20, frequency: '610.000', transmitter: true })
  const config = { manufacturers: [configFor(shure)] }
  /** Waits until the receiver is known; returns the ids of its channels. */
  const channelsOf = async (app: TestApp) => {
    const { channels } = await until('the receiver is known', () => app.receiver(id))
    return channels.map((channel) => channel.id) as [number, number]
  }
  return { config, set, channelsOf }
}

export async function listChecks(app: TestApp, show: number, query = ''): Promise<readonly ChannelCheckBody[]> {
  const { status, json } = await app.get(`/api/shows/${show}/checks/${query}`)
  expect(status).toBe(200)
  return json
}

export async function checkOf(app: TestApp, show: number, channel: number): Promise<ChannelCheckBody> {
  const [check] = await listChecks(app, show, `?channel=${channel}`)
  if (check === undefined) throw new Error(`no check of channel ${channel}`)
  return check
}
