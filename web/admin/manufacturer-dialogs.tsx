import { useEffect, useState } from 'react'
import type { ConnectionTest, ManufacturerBody } from '../../src/contract/manufacturers.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { useRequest } from '../app/resource.ts'
import { ActionDialog, Dialog, Removal } from '../parts/dialog.tsx'
import { ProblemLine } from '../parts/notice.tsx'
import { nameOf } from './manufacturer-columns.tsx'
import { manufacturersPath, TestResult } from './manufacturer-form.tsx'

interface DialogProps {
  readonly record: ManufacturerBody
  onClose(): void
}

/** Tests the connection when it opens. */
export function TestDialog({ record, onClose }: DialogProps) {
  const { api } = useServices()
  const { send, problem } = useRequest()
  const [tested, setTested] = useState<ConnectionTest | null>(null)
  const { code } = record
  useEffect(() => {
    void send(() => api.write('POST', `${manufacturersPath}${code}/test`, undefined, 'object')).then((response) => {
      if (response?.ok) setTested(response.body)
    })
  }, [api, send, code])
  return (
    <Dialog title={t('manufacturers.test.result', { name: nameOf(record) })} onClose={onClose}>
      <div className="dialog-text">
        {tested === null && problem === null ? <p role="status">{t('manufacturers.test.testing')}</p> : null}
        {tested === null ? null : <TestResult tested={tested} />}
        {problem === null ? null : <ProblemLine problem={problem} field={problem.field} />}
      </div>
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onClose}>
          {t('parts.dialog.close')}
        </button>
      </div>
    </Dialog>
  )
}

interface QuestionProps extends DialogProps {
  onDone(): Promise<void>
}

export function DisableQuestion({ record, ...kind }: QuestionProps) {
  const { api } = useServices()
  return (
    <ActionDialog
      {...kind}
      title={t('manufacturers.enable.question', { name: nameOf(record) })}
      action={t('manufacturers.enable.action')}
      tone="usual"
      done={t('manufacturers.enable.disabled', { name: nameOf(record) })}
      write={() => api.write('PATCH', `${manufacturersPath}${record.code}/`, { api_enabled: false }, 'object')}
    >
      <p>{t('manufacturers.enable.consequence')}</p>
    </ActionDialog>
  )
}

export function RemovalQuestion({ record, ...kind }: QuestionProps) {
  return (
    <Removal
      {...kind}
      title={t('manufacturers.removal.question', { name: nameOf(record) })}
      action={t('manufacturers.removal.text')}
      done={t('manufacturers.removal.done', { name: nameOf(record) })}
      path={`${manufacturersPath}${record.code}/`}
    >
      <p>{t('manufacturers.removal.consequence')}</p>
    </Removal>
  )
}
