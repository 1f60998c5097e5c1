/** A client that connects and sends nothing, or an incomplete request. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { onTestEnd } from '../cleanup.ts'

/** Opens a connection. `closedAt` returns when it was closed, as a `performance.now()` time, or 0 while it is open. */
export async function openSilent(port: number) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestEnd(() => socket.destroy())
  await once(socket, 'connect')
  let received = ''
  let closedAt = 0
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.on('close', () => {
    closedAt = performance.now()
  })
  return { socket, received: () => received, closedAt: () => closedAt }
}
