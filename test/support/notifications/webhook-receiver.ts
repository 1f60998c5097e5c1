/** An HTTP server that receives webhooks, and gives scripted responses. */

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestEnd } from '../cleanup.ts'

export interface ReceivedWebhook {
  readonly at: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
  readonly body: any
}

/** A status with headers; `hang` never responds, and a promise delays the response. */
export type WebhookResponse =
  | number
  | 'hang'
  | Promise<number>
  | { readonly status: number; readonly headers: Record<string, string> }

/** Starts a receiver that gives these responses in turn, and then `last`. */
export async function startWebhookReceiver(responses: WebhookResponse[] = [], last: WebhookResponse = 204) {
  const received: ReceivedWebhook[] = []
  const listeners = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    received.push({ at: Date.now(), headers: request.headers, text, body: JSON.parse(text) })
    const scripted = responses.shift() ?? last
    for (const listener of [...listeners]) listener()
    const next = await scripted
    if (next !== 'hang') {
      const { status, headers } = typeof next === 'number' ? { status: next, headers: {} } : next
      response.writeHead(status, headers).end(`responded ${status}`)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`,
    received,
    async waitFor(count: number): Promise<readonly ReceivedWebhook[]> {
      while (received.length < count) await new Promise<void>((resolve) => listeners.add(resolve))
      listeners.clear()
      return received
    },
  }
}
