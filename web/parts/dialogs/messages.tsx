import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react'
import './messages.css'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'

export interface Message {
  readonly text: string
  readonly tone?: 'calm' | 'alarm'
  readonly undo?: (() => Promise<void>) | undefined
}

/**
 * A message with an undo button stays longer, so that the button can be reached by keyboard. Errors stay until they
 * are dismissed.
 */
const showMs = 8_000
const undoMs = 30_000

const MessageContext = createContext<(message: Message) => void>(() => {})

export function useShowMessage(): (message: Message) => void {
  return useContext(MessageContext)
}

/** Shows a message with a button that undoes the requests with these ids, the latest one first. */
export function useShowUndoable(): (text: string, undoIds: readonly (string | undefined)[]) => void {
  const { api } = useServices()
  const showMessage = useShowMessage()
  return useCallback(
    (text, undoIds) => {
      const ids = undoIds.filter((id) => id !== undefined).toReversed()
      const undo = async () => {
        for (const id of ids) {
          const response = await api.write('POST', `/api/undo/${id}`, undefined, 'object')
          if (!response.ok) return showMessage({ text: response.problem.detail, tone: 'alarm' })
        }
        showMessage({ text: t('parts.messages.undone') })
      }
      showMessage({ text, undo: ids.length === 0 ? undefined : undo })
    },
    [api, showMessage],
  )
}

export function Messages({ children }: { children: ReactNode }) {
  const [message, setMessage] = useState<Message | null>(null)
  const dismiss = useCallback(() => setMessage(null), [])
  useEffect(() => {
    if (message === null || message.tone === 'alarm') return
    const timer = setTimeout(dismiss, message.undo === undefined ? showMs : undoMs)
    return () => clearTimeout(timer)
  }, [message, dismiss])
  return (
    <MessageContext value={setMessage}>
      {children}
      <div className="messages" role="status" aria-label={t('parts.messages.label')}>
        {message === null ? null : <Shown message={message} onDismiss={dismiss} />}
      </div>
    </MessageContext>
  )
}

function Shown({ message, onDismiss }: { message: Message; onDismiss: () => void }) {
  const { text, tone = 'calm', undo } = message
  const takeBack = async () => {
    onDismiss()
    await undo?.()
  }
  return (
    <div className="message" data-tone={tone}>
      <p>{text}</p>
      {undo === undefined ? null : (
        <button type="button" className="choice" onClick={takeBack}>
          {t('parts.messages.undo')}
        </button>
      )}
      <button type="button" className="choice" onClick={onDismiss}>
        {t('parts.messages.dismiss')}
      </button>
    </div>
  )
}
