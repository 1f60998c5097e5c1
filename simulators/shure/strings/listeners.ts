/** Accepts the clients of a simulated device over TCP or UDP. */

import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { splitAngleFrames, splitStarFrames } from '../../../src/manufacturers/shure/strings/frames.ts'
import { Controller, type SimulatedDevice } from './controller.ts'

export interface Listener {
  readonly port: number
  disconnectAll(): void
  close(): Promise<void>
}

interface ListenerOptions {
  readonly device: SimulatedDevice
  /** The controllers of the connected clients; the listener adds and removes them. */
  readonly controllers: Set<Controller>
  /** 0: any free port. */
  readonly port: number
}

interface TcpOptions extends ListenerOptions {
  readonly maxClients: number
  /** True if every character is sent in a packet of its own. */
  readonly splitsFrames: boolean
  onDisconnect(controller: Controller): void
}

export async function listenTcp(options: TcpOptions): Promise<Listener> {
  const { controllers, port, maxClients } = options
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (controllers.size >= maxClients) return socket.destroy()
    serve(socket, options)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const disconnectAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    disconnectAll,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        disconnectAll()
      }),
  }
}

function serve(socket: Socket, { device, controllers, splitsFrames, onDisconnect }: TcpOptions): void {
  const write = (text: string) => {
    if (!splitsFrames) return void socket.write(text)
    for (const character of text) socket.write(character)
  }
  const controller = new Controller(device, write)
  let rest = ''
  controllers.add(controller)
  socket.on('data', (bytes) => {
    const frames = splitAngleFrames(rest + String(bytes))
    rest = frames.rest
    for (const message of frames.messages) controller.receive(message.trim())
  })
  socket.on('close', () => {
    onDisconnect(controller)
    controller.close()
    controllers.delete(controller)
  })
}

export async function listenUdp({ device, controllers, port }: ListenerOptions): Promise<Listener> {
  const socket = createSocket('udp4')
  const controllerByAddress = new Map<string, Controller>()
  let isClosed = false
  socket.on('error', () => {})
  socket.on('message', (bytes, from) => {
    for (const message of splitStarFrames(String(bytes))) getController(from).receive(message.trim())
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')

  /** Returns the controller of a UDP client and creates it at its first datagram. */
  function getController(from: RemoteInfo): Controller {
    const name = `${from.address}:${from.port}`
    const controller =
      controllerByAddress.get(name) ?? new Controller(device, (text) => socket.send(text, from.port, from.address))
    controllerByAddress.set(name, controller)
    controllers.add(controller)
    return controller
  }

  const disconnectAll = () => {
    for (const controller of controllerByAddress.values()) controller.close()
    controllerByAddress.clear()
    controllers.clear()
  }
  return {
    port: socket.address().port,
    disconnectAll,
    close: async () => {
      disconnectAll()
      if (!isClosed) socket.close()
      isClosed = true
    },
  }
}
