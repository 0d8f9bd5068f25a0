// Memory from the device's heap: lists of threads, an array of a block, new and delete.
#include <cstdlib>
struct Node { int value; Node *next; };
extern "C" __global__ void lists(int *out, int length) {
    Node *head = nullptr;
    for (int k = 0; k < (length & 7) + 1; k++) {
        Node *node = (Node *)malloc(sizeof(Node));
        if (!node) break;
        node->value = threadIdx.x * k;
        node->next = head;
        head = node;
    }
    int sum = 0;
    while (head) {
        Node *rest = head->next;
        sum += head->value;
        free(head);
        head = rest;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void shared_array(float *out) {
    __shared__ float *array;
    if (threadIdx.x == 0) array = (float *)malloc(blockDim.x * sizeof(float));
    __syncthreads();
    array[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = array[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(array);
}
extern "C" __global__ void fresh(double *out) {
    double *pair = new double[2];
    pair[0] = threadIdx.x;
    pair[1] = 0.5;
    out[threadIdx.x] = pair[0] * pair[1];
    delete[] pair;
}
