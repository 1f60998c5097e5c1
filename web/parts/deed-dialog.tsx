/** One deed that is asked about first: a confirmation that does it, says so, or says why not. */

import type { ReactNode } from 'react'
import { type Answer, isNothing } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { useSending } from '../reading.ts'
import { Confirmation } from './dialog.tsx'
import { useSay } from './messages.tsx'

interface DeedProps {
  /** A question that names what. */
  readonly title: string
  /** What follows from it. */
  readonly children: ReactNode
  readonly action: string
  readonly tone?: 'usual' | 'alarm'
  /** What to say when it is done. */
  readonly done: string
  write(): Promise<Answer<unknown>>
  onDone(): Promise<void>
  onClose(): void
}

export function DeedDialog({ title, children, action, tone = 'alarm', done, write, onDone, onClose }: DeedProps) {
  const say = useSay()
  const { send, isSending, problem } = useSending()
  const confirm = async () => {
    const answer = await send(write)
    if (!answer?.ok) return
    onClose()
    say({ text: done })
    await onDone()
  }
  return (
    <Confirmation {...{ title, action, tone, isSending, problem, onClose }} onConfirm={confirm}>
      {children}
    </Confirmation>
  )
}

type RemovalProps = Omit<DeedProps, 'write'> & { readonly path: string }

/** The deed is to remove what stands at `path`. */
export function Removal({ path, ...deed }: RemovalProps) {
  const { api } = useSurroundings()
  return <DeedDialog {...deed} write={() => api.write('DELETE', path, undefined, isNothing)} />
}
