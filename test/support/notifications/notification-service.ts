/** Shared by tests of notifications in the whole service. */

import { expect } from 'vitest'
import type { TestApp } from '../app.ts'
import { configFor, deviceOf, startShure } from '../app.ts'
import { tokenHeaders } from '../tokens.ts'
import type { ReceivedWebhook } from './webhook-receiver.ts'

export const channels = '/api/admin/notification-channels/'
export const rules = '/api/admin/notification-rules/'
export const deliveries = '/api/admin/notification-deliveries/'

/** Starts a system with one receiver of two channels, on which batteries can be set. */
export async function startSystem() {
  const shure = await startShure({ receivers: 1 })
  const { id } = deviceOf(shure)
  const set = (change: Parameters<typeof shure.show.set>[1], channel = 1) => {
    shure.show.set(id, change, channel)
    shure.push.flush()
  }
  for (const channel of [1, 2]) set({ battery: 90, rf_level: -50, audio_level: -20 }, channel)
  return { shure, id, set, manufacturers: [configFor(shure)] }
}

/** Returns a client that is signed in as an administrator. */
export async function signIn(app: TestApp) {
  const headers = await tokenHeaders(app, 'admin')
  const json = { ...headers, 'content-type': 'application/json' }
  const send = (method: string, path: string, body: unknown) =>
    app.send(method, path, { headers: json, body: JSON.stringify(body) })
  return {
    get: (path: string) => app.get(path, headers),
    post: (path: string, body?: unknown) => app.post(path, body, headers),
    put: (path: string, body: unknown) => send('PUT', path, body),
    patch: (path: string, body: unknown) => send('PATCH', path, body),
    remove: (path: string) => app.send('DELETE', path, { headers }),
  }
}

type Admin = Awaited<ReturnType<typeof signIn>>

export async function addWebhook(admin: Admin, url: string) {
  const { status, json } = await admin.post(channels, { name: 'Stage manager', type: 'webhook', config: { url } })
  expect(status).toBe(201)
  return json as { id: number; secret: string }
}

/** Returns the types of the messages, each with the slots of its alerts. */
export function summarize(received: readonly ReceivedWebhook[]): readonly string[] {
  return received.map(({ body }) => {
    const slots = body.data.alerts.map(({ data }: { data: { slot: number } }) => data.slot)
    return `${body.type} ${slots.sort().join('+')}`
  })
}
