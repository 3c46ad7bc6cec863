/** The routes' zod schemas: they check what comes in, write what goes out, and become the OpenAPI document. */
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { BillingError } from '../errors.ts';
import { faultsOfIssues } from '../operations/input-faults.ts';

export function useZodSchemas(fastify: FastifyInstance): void {
  fastify.setValidatorCompiler(validatorCompiler);
  fastify.setSerializerCompiler(serializerCompiler);
}

/** For a body that the operation checks itself, with rules that no schema can say: here its schema only documents. */
export const checkedByOperation: FastifySchemaCompiler<unknown> = () => (value: unknown) => ({ value });

const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (input) => {
    const parsed = schema.safeParse(input, { reportInput: true });
    if (parsed.success) return { value: parsed.data };
    const faults = faultsOfIssues(parsed.error.issues);
    return {
      error: new BillingError('invalid', 'The request has faults; errors names each of them', { faults }),
    };
  };
