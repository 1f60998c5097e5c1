/** A form in a modal dialog. */

import { t } from '../app/i18n.ts'
import { Dialog } from './dialog.tsx'
import { Form, type FormProps } from './form.tsx'

type FormDialogProps<Body> = Omit<FormProps<Body>, 'others'> & {
  readonly title: string
  onClose(): void
}

export function FormDialog<Body>({ title, onClose, ...form }: FormDialogProps<Body>) {
  const cancel = (
    <button type="button" className="choice" onClick={onClose}>
      {t('parts.dialog.cancel')}
    </button>
  )
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} others={cancel} />
    </Dialog>
  )
}
