-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "number_reset" AS ENUM ('never', 'yearly', 'monthly');

-- CreateEnum
CREATE TYPE "date_zone_kind" AS ENUM ('seller', 'fixed', 'customer');

-- CreateEnum
CREATE TYPE "invoice_status" AS ENUM ('draft', 'open', 'paid', 'void', 'uncollectible');

-- CreateEnum
CREATE TYPE "collection_method" AS ENUM ('charge_automatically', 'send_invoice');

-- CreateEnum
CREATE TYPE "rounding_mode" AS ENUM ('per-rate', 'per-line');

-- CreateEnum
CREATE TYPE "payment_status" AS ENUM ('created', 'sent', 'captured', 'declined', 'requires_action', 'processing', 'unknown', 'cancelled');

-- CreateEnum
CREATE TYPE "decline_class" AS ENUM ('retry_later', 'customer_must_act', 'stop');

-- CreateEnum
CREATE TYPE "email_kind" AS ENUM ('receipt');

-- CreateEnum
CREATE TYPE "email_status" AS ENUM ('pending', 'sending', 'sent', 'uncertain', 'rejected', 'skipped');

-- CreateTable
CREATE TABLE "sellers" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "address" JSONB,
    "tax_number" TEXT,
    "registration_number" TEXT,
    "bank_details" TEXT,
    "sender_address" TEXT,
    "time_zone" TEXT NOT NULL DEFAULT 'UTC',
    "default_series_id" UUID,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sellers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "number_series" (
    "id" UUID NOT NULL,
    "seller_id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "reset" "number_reset" NOT NULL,
    "date_zone_kind" "date_zone_kind" NOT NULL DEFAULT 'seller',
    "date_zone" TEXT,
    "last_issue_date" DATE,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "number_series_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "number_counters" (
    "series_id" UUID NOT NULL,
    "period" TEXT NOT NULL,
    "next" BIGINT NOT NULL,

    CONSTRAINT "number_counters_pkey" PRIMARY KEY ("series_id","period")
);

-- CreateTable
CREATE TABLE "customers" (
    "id" UUID NOT NULL,
    "external_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "emails" TEXT[],
    "address" JSONB,
    "locale" TEXT,
    "time_zone" TEXT,
    "tax_number" TEXT,
    "gateway_customer" TEXT,
    "payment_method" TEXT,
    "credit_balances" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "customers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invoices" (
    "id" UUID NOT NULL,
    "external_id" TEXT NOT NULL,
    "customer_id" UUID NOT NULL,
    "series_id" UUID NOT NULL,
    "number" TEXT,
    "status" "invoice_status" NOT NULL DEFAULT 'draft',
    "collection_method" "collection_method" NOT NULL,
    "currency" TEXT NOT NULL,
    "rounding" "rounding_mode" NOT NULL,
    "prices_include_tax" BOOLEAN NOT NULL DEFAULT false,
    "discounts" JSONB NOT NULL DEFAULT '[]',
    "charges" JSONB NOT NULL DEFAULT '[]',
    "subtotal_minor" BIGINT NOT NULL,
    "discount_minor" BIGINT NOT NULL,
    "charge_minor" BIGINT NOT NULL,
    "tax_minor" BIGINT NOT NULL,
    "total_minor" BIGINT NOT NULL,
    "tax_breakdown" JSONB NOT NULL,
    "paid_minor" BIGINT NOT NULL DEFAULT 0,
    "credited_minor" BIGINT NOT NULL DEFAULT 0,
    "refunded_minor" BIGINT NOT NULL DEFAULT 0,
    "refund_asked_minor" BIGINT NOT NULL DEFAULT 0,
    "open_payment_id" UUID,
    "attempt_seq" INTEGER NOT NULL DEFAULT 0,
    "decline_count" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(6),
    "issue_date" DATE,
    "due_date" DATE,
    "due_in_days" INTEGER,
    "finalize_requested_at" TIMESTAMPTZ(6),
    "finalize_version" INTEGER,
    "finalized_at" TIMESTAMPTZ(6),
    "remind_at" TIMESTAMPTZ(6),
    "parked_at" TIMESTAMPTZ(6),
    "parked_reason" TEXT,
    "seller_snapshot" JSONB,
    "customer_snapshot" JSONB,
    "note" TEXT,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "content_hash" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "invoices_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invoice_lines" (
    "invoice_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "description" TEXT NOT NULL,
    "quantity" DECIMAL NOT NULL,
    "unit_price" DECIMAL NOT NULL,
    "price_base_quantity" DECIMAL NOT NULL DEFAULT 1,
    "discounts" JSONB NOT NULL DEFAULT '[]',
    "charges" JSONB NOT NULL DEFAULT '[]',
    "tax_category" TEXT NOT NULL,
    "tax_rate_percent" DECIMAL NOT NULL,
    "net_minor" BIGINT NOT NULL,
    "tax_minor" BIGINT NOT NULL,

    CONSTRAINT "invoice_lines_pkey" PRIMARY KEY ("invoice_id","position")
);

-- CreateTable
CREATE TABLE "payments" (
    "id" UUID NOT NULL,
    "invoice_id" UUID NOT NULL,
    "request_id" TEXT NOT NULL,
    "gateway" TEXT NOT NULL,
    "gateway_key" TEXT NOT NULL,
    "status" "payment_status" NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "gateway_customer" TEXT,
    "payment_method" TEXT NOT NULL,
    "descriptor" TEXT NOT NULL,
    "metadata" JSONB NOT NULL,
    "request_hash" TEXT NOT NULL,
    "send_no" INTEGER NOT NULL DEFAULT 0,
    "uncertain_sends" INTEGER NOT NULL DEFAULT 0,
    "first_sent_at" TIMESTAMPTZ(6),
    "last_sent_at" TIMESTAMPTZ(6),
    "gateway_reference" TEXT,
    "captured_minor" BIGINT NOT NULL DEFAULT 0,
    "refunded_minor" BIGINT NOT NULL DEFAULT 0,
    "refund_asked_minor" BIGINT NOT NULL DEFAULT 0,
    "captured_at" TIMESTAMPTZ(6),
    "decline_code" TEXT,
    "decline_class" "decline_class",
    "action_url" TEXT,
    "status_reason" TEXT,
    "next_check_at" TIMESTAMPTZ(6),
    "check_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "payments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "processed_events" (
    "event_key" TEXT NOT NULL,
    "job_name" TEXT NOT NULL,
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "processed_events_pkey" PRIMARY KEY ("event_key")
);

-- CreateTable
CREATE TABLE "emails" (
    "id" UUID NOT NULL,
    "invoice_id" UUID NOT NULL,
    "payment_id" UUID,
    "subject_id" UUID NOT NULL,
    "kind" "email_kind" NOT NULL,
    "status" "email_status" NOT NULL DEFAULT 'pending',
    "message_id" TEXT NOT NULL,
    "send_no" INTEGER NOT NULL DEFAULT 0,
    "sending_at" TIMESTAMPTZ(6),
    "ended_at" TIMESTAMPTZ(6),
    "remind_at" TIMESTAMPTZ(6),
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "emails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invoice_events" (
    "id" UUID NOT NULL,
    "invoice_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "details" JSONB NOT NULL DEFAULT '{}',
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "invoice_events_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "number_series_code_key" ON "number_series"("code");

-- CreateIndex
CREATE UNIQUE INDEX "customers_external_id_key" ON "customers"("external_id");

-- CreateIndex
CREATE UNIQUE INDEX "invoices_external_id_key" ON "invoices"("external_id");

-- CreateIndex
CREATE INDEX "invoices_customer_id_idx" ON "invoices"("customer_id");

-- CreateIndex
-- CreateIndex
CREATE UNIQUE INDEX "payments_gateway_key_key" ON "payments"("gateway_key");

-- CreateIndex
CREATE UNIQUE INDEX "payments_invoice_id_request_id_key" ON "payments"("invoice_id", "request_id");

-- CreateIndex
CREATE UNIQUE INDEX "payments_gateway_gateway_reference_key" ON "payments"("gateway", "gateway_reference");

-- CreateIndex
CREATE INDEX "processed_events_created_at_idx" ON "processed_events"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "emails_message_id_key" ON "emails"("message_id");

-- CreateIndex
CREATE INDEX "emails_invoice_id_idx" ON "emails"("invoice_id");

-- CreateIndex
CREATE UNIQUE INDEX "emails_subject_id_kind_key" ON "emails"("subject_id", "kind");

-- CreateIndex
CREATE INDEX "invoice_events_invoice_id_at_idx" ON "invoice_events"("invoice_id", "at");

-- AddForeignKey
ALTER TABLE "sellers" ADD CONSTRAINT "sellers_default_series_id_fkey" FOREIGN KEY ("default_series_id") REFERENCES "number_series"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "number_series" ADD CONSTRAINT "number_series_seller_id_fkey" FOREIGN KEY ("seller_id") REFERENCES "sellers"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "number_counters" ADD CONSTRAINT "number_counters_series_id_fkey" FOREIGN KEY ("series_id") REFERENCES "number_series"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_customer_id_fkey" FOREIGN KEY ("customer_id") REFERENCES "customers"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_series_id_fkey" FOREIGN KEY ("series_id") REFERENCES "number_series"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoice_lines" ADD CONSTRAINT "invoice_lines_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "invoices"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "payments" ADD CONSTRAINT "payments_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "invoices"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "emails" ADD CONSTRAINT "emails_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "invoices"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "emails" ADD CONSTRAINT "emails_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "invoice_events" ADD CONSTRAINT "invoice_events_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "invoices"("id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- What Prisma's schema language cannot say --------------------------------------------------------------------

-- A number belongs to one invoice for ever; drafts hold none, so a rollback gives a number back.
CREATE UNIQUE INDEX "invoices_number_key" ON "invoices"("number") WHERE "number" IS NOT NULL;

-- Drafts that somebody asked to finalize: what a lost reminder is found by.
CREATE INDEX "invoices_wished_idx" ON "invoices"("remind_at", "id")
  WHERE "status" = 'draft' AND "finalize_requested_at" IS NOT NULL AND "parked_at" IS NULL;

-- One attempt in flight per invoice, whatever the code does.
CREATE UNIQUE INDEX "payments_one_open_per_invoice" ON "payments"("invoice_id")
  WHERE "status" IN ('created', 'sent', 'requires_action', 'processing', 'unknown');

CREATE INDEX "emails_unsent_idx" ON "emails"("remind_at", "id") WHERE "status" IN ('pending', 'sending');

ALTER TABLE "number_series"
  ADD CONSTRAINT "number_series_format_check" CHECK ("format" ~ '\{SEQ:([1-9]|1[0-8])\}'),
  ADD CONSTRAINT "number_series_zone_check" CHECK (("date_zone_kind" = 'fixed') = ("date_zone" IS NOT NULL));

ALTER TABLE "number_counters"
  ADD CONSTRAINT "number_counters_next_check" CHECK ("next" >= 1);

ALTER TABLE "invoices"
  ADD CONSTRAINT "invoices_currency_check" CHECK ("currency" ~ '^[A-Z]{3}$'),
  ADD CONSTRAINT "invoices_number_check" CHECK (("status" = 'draft') = ("number" IS NULL)),
  ADD CONSTRAINT "invoices_finalized_check"
    CHECK (("status" = 'draft') = ("finalized_at" IS NULL) AND ("status" = 'draft') = ("issue_date" IS NULL)),
  ADD CONSTRAINT "invoices_total_check" CHECK ("status" = 'draft' OR "total_minor" >= 0),
  ADD CONSTRAINT "invoices_sums_check"
    CHECK ("paid_minor" >= 0 AND "credited_minor" >= 0 AND "refunded_minor" >= 0 AND "refund_asked_minor" >= 0),
  ADD CONSTRAINT "invoices_wish_check" CHECK (("finalize_requested_at" IS NULL) = ("finalize_version" IS NULL)),
  ADD CONSTRAINT "invoices_parked_check" CHECK (("parked_at" IS NULL) = ("parked_reason" IS NULL)),
  ADD CONSTRAINT "invoices_draft_holds_nothing_check"
    CHECK ("status" <> 'draft' OR ("open_payment_id" IS NULL AND "paid_minor" = 0 AND "credited_minor" = 0));

ALTER TABLE "payments"
  ADD CONSTRAINT "payments_currency_check" CHECK ("currency" ~ '^[A-Z]{3}$'),
  ADD CONSTRAINT "payments_amount_check" CHECK ("amount_minor" > 0),
  -- `created` means that no send of this attempt can have reached the gateway.
  ADD CONSTRAINT "payments_created_check" CHECK ("status" <> 'created' OR "uncertain_sends" = 0),
  ADD CONSTRAINT "payments_sent_check" CHECK ("status" IN ('created', 'cancelled') OR "first_sent_at" IS NOT NULL),
  ADD CONSTRAINT "payments_captured_check"
    CHECK (("status" = 'captured') = ("captured_at" IS NOT NULL) AND ("status" = 'captured') = ("captured_minor" > 0)),
  ADD CONSTRAINT "payments_declined_check" CHECK (("status" = 'declined') = ("decline_class" IS NOT NULL));

-- Time limits belong to the role, so that a pooler in transaction mode keeps them.
DO $$
DECLARE
  setting text;
BEGIN
  FOREACH setting IN ARRAY ARRAY['statement_timeout = ''10s''', 'lock_timeout = ''3s''', 'idle_in_transaction_session_timeout = ''10s''']
  LOOP
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET %s', current_user, current_database(), setting);
  END LOOP;
END $$;

-- A first seller with its series, so that a fresh installation can bill. Its name and address are yours to set.
INSERT INTO "sellers" ("id", "name", "time_zone") VALUES ('018f0000-0000-7000-8000-000000000001', 'Your Company', 'UTC');
INSERT INTO "number_series" ("id", "seller_id", "code", "format", "reset")
  VALUES ('018f0000-0000-7000-8000-000000000002', '018f0000-0000-7000-8000-000000000001', 'INV', 'INV-{YYYY}-{SEQ:6}', 'yearly');
UPDATE "sellers" SET "default_series_id" = '018f0000-0000-7000-8000-000000000002';
