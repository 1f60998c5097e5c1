import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { formatDuration } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { signInPath } from '../../app/resource.ts'

interface NoticeProps {
  readonly title: string
  readonly icon?: LucideIcon
  readonly children?: ReactNode
}

export function Notice({ title, icon: Icon, children }: NoticeProps) {
  return (
    <section className="notice">
      {Icon === undefined ? null : (
        <span className="notice-icon">
          <Icon className="icon" aria-hidden="true" />
        </span>
      )}
      <h2>{title}</h2>
      {children}
    </section>
  )
}

export function ProblemLine({ problem, field }: { problem: Problem; field?: string | undefined }) {
  const { mount } = useServices()
  const { kind, detail, waitSeconds } = problem
  return (
    <p className="problem" role="alert">
      {field === undefined ? detail : t('parts.form.field', { name: field, message: detail })}
      {waitSeconds === undefined ? null : ` ${t('parts.form.wait', { time: formatDuration(waitSeconds * 1000) })}`}
      {kind !== 'sign_in' ? null : (
        <>
          {' '}
          <a href={signInPath(mount)} target="_blank" rel="noreferrer">
            {t('parts.signInAgain')}
          </a>
        </>
      )}
    </p>
  )
}
