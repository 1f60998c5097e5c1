/** A confirmation dialog that sends one request and shows the result or the error. */

import type { ReactNode } from 'react'
import type { ApiResponse } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import type { Address } from '../app/operations.ts'
import { useRequest } from '../app/resource.ts'
import { Confirmation } from './dialog.tsx'
import { useShowMessage } from './messages.tsx'

interface ActionProps {
  /** The question, which names the item. */
  readonly title: string
  /** Effect of the action. */
  readonly children: ReactNode
  readonly action: string
  readonly tone?: 'usual' | 'alarm'
  /** Message after success. */
  readonly done: string
  write(): Promise<ApiResponse<unknown>>
  onDone(): Promise<void>
  onClose(): void
}

export function ActionDialog({ title, children, action, tone = 'alarm', done, write, onDone, onClose }: ActionProps) {
  const showMessage = useShowMessage()
  const { send, isSending, problem } = useRequest()
  const confirm = async () => {
    const response = await send(write)
    if (!response?.ok) return
    onClose()
    showMessage({ text: done })
    await onDone()
  }
  return (
    <Confirmation {...{ title, action, tone, isSending, problem, onClose }} onConfirm={confirm}>
      {children}
    </Confirmation>
  )
}

type RemovalProps = Omit<ActionProps, 'write'> & { readonly path: Address<'DELETE'> }

/** Deletes the resource at `path`. */
export function Removal({ path, ...edit }: RemovalProps) {
  const { api } = useServices()
  return <ActionDialog {...edit} write={() => api.write('DELETE', path, undefined, 'nothing')} />
}
