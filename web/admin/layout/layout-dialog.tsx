import type { LayoutLocation, LayoutReceiver } from '../../../src/contract/locations.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { Confirmation, Removal } from '../../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { type BulkResult, runForEach } from '../../parts/tables/run-for-each.ts'
import type { LocationOption, PlacedReceiver } from './layout.ts'
import { LocationForm, MoveForm, nameIn, ReceiverForm, receiversPath, useMove } from './layout-forms.tsx'
import { nameOf } from './layout-location.tsx'

/** Fixed when the dialog opens, because later refreshes must not change it. */
export type DialogState =
  | { readonly kind: 'move' | 'remove'; readonly receivers: readonly PlacedReceiver[] }
  | { readonly kind: 'edit_receiver'; readonly receiver: LayoutReceiver; readonly locationId: number | null }
  | { readonly kind: 'edit_location'; readonly location: LayoutLocation | null; readonly parent: number | null }
  | { readonly kind: 'remove_location'; readonly location: LayoutLocation }

interface LayoutDialogProps {
  readonly dialog: DialogState
  readonly locationOptions: readonly LocationOption[]
  onReport(result: BulkResult): void
  onDone(): Promise<void>
  onClose(): void
}

export function LayoutDialog({ dialog, locationOptions, onReport, onDone, onClose }: LayoutDialogProps) {
  const showMessage = useShowMessage()
  const move = useMove()
  const shared = { locationOptions, onClose }
  const finish = async (text: string, undo?: () => Promise<void>) => {
    onClose()
    showMessage({ text, undo })
    await onDone()
  }
  const moveBack = async (before: readonly PlacedReceiver[]) => {
    const response = await move(before, t('layout.move.undoReason'))
    await onDone()
    if (!response.ok) return showMessage({ text: response.problem.detail, tone: 'alarm' })
    onReport(response.body)
    showMessage({ text: t('layout.move.undone', { count: response.body.done.length }) })
  }
  const finishMove = (moved: readonly PlacedReceiver[], result: BulkResult) => {
    onReport(result)
    const back = moved.filter(({ receiver }) => result.done.includes(receiver.id))
    void finish(t('layout.move.done', { count: result.done.length }), () => moveBack(back))
  }
  const finishRemoval = (result: BulkResult) => {
    onReport(result)
    void finish(t('layout.removal.done', { count: result.done.length }))
  }

  switch (dialog.kind) {
    case 'move':
      return <MoveForm {...shared} moved={dialog.receivers} onDone={(result) => finishMove(dialog.receivers, result)} />
    case 'remove':
      return <ReceiverRemoval receivers={dialog.receivers} onDone={finishRemoval} onClose={onClose} />
    case 'edit_receiver': {
      const { receiver, locationId } = dialog
      const done = () => void finish(t('layout.saved', { name: nameOf(receiver) }))
      return <ReceiverForm {...shared} receiver={receiver} locationId={locationId} onDone={done} />
    }
    case 'edit_location': {
      const { location, parent } = dialog
      const done = ({ name }: { readonly name: string }) => void finish(t('layout.saved', { name: plainText(name) }))
      return <LocationForm {...shared} location={location} parent={parent} onDone={done} />
    }
    case 'remove_location': {
      const name = plainText(dialog.location.name)
      return (
        <Removal
          title={t('layout.location.question', { name })}
          action={t('layout.remove')}
          done={t('layout.location.deleted', { name })}
          path={`/api/admin/locations/${dialog.location.id}/`}
          record={dialog.location}
          onDone={onDone}
          onClose={onClose}
        >
          <p>{t('layout.location.consequence')}</p>
        </Removal>
      )
    }
    default:
      return dialog satisfies never
  }
}

interface ReceiverRemovalProps {
  readonly receivers: readonly PlacedReceiver[]
  onDone(result: BulkResult): void
  onClose(): void
}

function ReceiverRemoval({ receivers, onDone, onClose }: ReceiverRemovalProps) {
  const { api } = useServices()
  const { send, isSending, problem } = useRequest()
  const ids = receivers.map(({ receiver }) => receiver.id)
  const remove = async () => {
    const response = await send(() =>
      runForEach(ids, nameIn(receivers), (id) => api.write('DELETE', `${receiversPath}${id}/`, undefined, 'nothing')),
    )
    if (response?.ok) onDone(response.body)
  }
  return (
    <Confirmation
      title={t('layout.removal.question', { count: ids.length })}
      action={t('layout.removal.text')}
      tone="alarm"
      isSending={isSending}
      problem={problem}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{t('layout.removal.consequence')}</p>
    </Confirmation>
  )
}
