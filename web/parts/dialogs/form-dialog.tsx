import { Form, type FormProps } from '../forms/form.tsx'
import { CancelButton, Dialog } from './dialog.tsx'
import { useShowUndoable } from './messages.tsx'

type FormDialogProps<Body, Edited> = Omit<FormProps<Body, Edited>, 'others' | 'onDone'> & {
  readonly title: string
  /** The message to show when the dialog closes. Without it, `onDone` decides whether to close. */
  done?(body: Body): string
  onDone?(body: Body): Promise<void> | void
  onClose(): void
}

export function FormDialog<Body, Edited = null>({
  title,
  done,
  onDone,
  onClose,
  ...form
}: FormDialogProps<Body, Edited>) {
  const showUndoable = useShowUndoable()
  const finish = (body: Body, undoId: string | undefined) => {
    if (done !== undefined) {
      onClose()
      showUndoable(done(body), [undoId])
    }
    void onDone?.(body)
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} onDone={finish} others={<CancelButton />} />
    </Dialog>
  )
}
